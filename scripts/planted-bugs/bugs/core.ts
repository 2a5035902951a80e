import type { PlantedBug } from "../planted-bug.ts";

const COMMIT = "packages/core/src/operations/write/commit.ts";
const RESOLVE = "packages/core/src/operations/identity/resolve-target.ts";

export const CORE: readonly PlantedBug[] = [
  {
    name: "core-redaction-before-the-end",
    breaks: "An erased actor is removed from another's submission while others still work on it.",
    file: "packages/core/src/operations/erasure/erase-from-submission.ts",
    edits: [
      {
        find: '  if (!isTerminal(submission.state)) {\n    report.waiting.push(submissionId);\n    return "done";\n  }\n  if (!erasure.dryRun) {\n    // Before the commit',
        replace: "  if (!erasure.dryRun) {\n    // Before the commit",
      },
    ],
    caughtBy: ["test/contract/erasures.test.ts"],
  },
  {
    name: "core-files-forgotten-first",
    breaks:
      "A redaction commits before the actor's files are removed; if it dies in between, nobody knows which they were.",
    file: "packages/core/src/operations/erasure/erase-from-submission.ts",
    edits: [
      {
        find: "    for (const uploadId of traces.uploads) await deps.uploads?.drop({ tenant, submissionId, uploadId });\n",
        replace: "",
      },
      {
        find: '    if ((await commitDecision(deps, change)).committed.kind !== "committed") return "again";\n',
        replace:
          '    if ((await commitDecision(deps, change)).committed.kind !== "committed") return "again";\n    for (const uploadId of traces.uploads) await deps.uploads?.drop({ tenant, submissionId, uploadId });\n',
      },
    ],
    caughtBy: ["test/contract/erasures.test.ts"],
  },
  {
    name: "core-address-of-a-bare-token-kept",
    breaks: "Reads with a bare token from an erased actor's address keep address and user agent.",
    file: "packages/core/src/domain/traces.ts",
    edits: [{ find: "isNameless(actor) && address !== undefined", replace: "address === undefined" }],
    caughtBy: ["test/contract/erasures.test.ts"],
  },
  {
    name: "core-two-attempts-at-once",
    breaks: "A delivery attempt starts while another one of the same submission is in flight.",
    file: "packages/core/src/domain/decide/deliver.ts",
    edits: [
      {
        find: "  if (inFlight !== true || lease === undefined || lease.until <= now) return undefined;\n",
        replace: "  if (inFlight !== true || lease === undefined || now >= 0) return undefined;\n",
      },
    ],
    caughtBy: ["test/contract/delivery-retry.test.ts"],
  },
  {
    name: "core-blocked-queue-not-extended",
    breaks: "Events that the position passes while their submission is blocked are lost.",
    file: "packages/core/src/domain/webhooks/round.ts",
    edits: [
      {
        find: "  return last === undefined ? queue : { ...queue, last: last.event.eventId };\n",
        replace: "  return last === undefined ? queue : { ...queue };\n",
      },
    ],
    caughtBy: ["packages/core/src/domain/webhooks/round.test.ts", "test/contract/webhooks-blocked.test.ts"],
  },
  {
    name: "core-readers-not-woken",
    breaks: "A reader of the live stream is not woken by a write.",
    file: COMMIT,
    edits: [
      {
        find: '    if (events.some(({ stream }) => stream === "submission")) deps.wakeups.notify(after.submissionId);\n',
        replace: "",
      },
    ],
    caughtBy: ["test/contract/lost-wakeups.test.ts"],
  },
  {
    name: "core-watchers-wait-for-wakeups",
    breaks: "A watcher whose wake-up got lost waits for the next one.",
    file: "packages/core/src/operations/watch-events.ts",
    edits: [{ find: "await notifier.notified(watchPollMs)", replace: "await notifier.notified()" }],
    caughtBy: ["test/contract/lost-wakeups.test.ts"],
  },
  {
    name: "core-conflict-after-answer",
    breaks: "A refused stale token is written to the history only after the response.",
    file: "packages/core/src/operations/audit/note-use.ts",
    edits: [{ find: "await context.auditTrail.record(conflict);", replace: "context.auditTrail.note(conflict);" }],
    caughtBy: ["test/contract/event-contents.test.ts"],
  },
  {
    name: "core-successor-expires",
    breaks: "token.expired names the token that replaced the expired one.",
    file: "packages/core/src/domain/tokens/token-audit.ts",
    edits: [{ find: "tokenHash: before.token.hash, reason,", replace: "tokenHash: after.token.hash, reason," }],
    caughtBy: ["test/contract/event-contents.test.ts"],
  },
  {
    name: "core-audit-dropped",
    breaks: "Audit notes that the store refused are dropped.",
    file: "packages/core/src/operations/audit/audit-trail.ts",
    edits: [{ find: "      for (const note of due.notes.values()) add(note);\n", replace: "" }],
    caughtBy: ["packages/core/src/operations/audit/audit-trail.test.ts"],
  },
  {
    name: "core-no-deadline",
    breaks: "A write that began in time is committed after the submission's deadline.",
    file: COMMIT,
    edits: [
      {
        find: "  return { revision: before.revision, notAfter: before.expiresAt + deps.settings.policy.clockSkewMs - 1 };",
        replace: "  return { revision: before.revision };",
      },
    ],
    caughtBy: ["test/contract/expiry.test.ts"],
  },
  {
    name: "core-no-record",
    breaks: "The response is not recorded with the change, and the retry is executed again.",
    file: COMMIT,
    edits: [{ find: "    ...(key && { key }),\n", replace: "" }],
    caughtBy: ["test/contract/idempotency.test.ts"],
  },
  {
    name: "core-replay-race-lost",
    breaks: "A replay that loses a race against another commit is refused.",
    file: "packages/core/src/operations/idempotency/replay-log.ts",
    edits: [{ find: "const MAX_TRIES = 10_000;", replace: "const MAX_TRIES = 1;" }],
    caughtBy: ["test/contract/idempotency-crowds.test.ts"],
  },
  {
    name: "core-holder-not-waited-for",
    breaks: "A write that waits for another instance is refused before its waiting time is over.",
    file: "packages/core/src/operations/idempotency/key-lock.ts",
    edits: [{ find: "if (performance.now() >= until) throw keyLocked(error);", replace: "throw keyLocked(error);" }],
    caughtBy: ["test/contract/idempotency-crowds.test.ts"],
  },
  {
    name: "core-create-waits-before-it-looks",
    breaks: "A replayed create waits for the lock of its key before it looks for the record.",
    file: "packages/core/src/operations/create-submission.ts",
    edits: [
      {
        find: "  let { now, record } = loaded;",
        replace: "  let { now, record } = { ...loaded, record: undefined as KeyRecord | undefined };",
      },
    ],
    caughtBy: ["test/contract/redis.test.ts"],
  },
  {
    name: "core-written-since-replayed",
    breaks: "A submit is a replay although the fields were changed since.",
    file: "packages/core/src/domain/idempotency/match-record.ts",
    edits: [{ find: " && written <= record.carriedVersion;", replace: ";" }],
    caughtBy: [
      "packages/core/src/domain/idempotency/match-record.test.ts",
      "test/contract/idempotency-retries.test.ts",
    ],
  },
  {
    name: "core-job-left-out",
    breaks: "A submit is committed without the job that delivers it.",
    file: COMMIT,
    edits: [{ find: "    jobs: [...(decision.jobs ?? []), ...files.jobs,", replace: "    jobs: [...files.jobs," }],
    caughtBy: ["test/contract/states-ends.test.ts"],
  },
  {
    name: "core-job-not-dropped",
    breaks: "Cancelling a submission doesn't remove its job.",
    file: COMMIT,
    edits: [{ find: "    dropJobs: [...(decision.dropJobs ?? []), ", replace: "    dropJobs: [" }],
    caughtBy: ["test/contract/states-ends.test.ts"],
  },
  {
    name: "core-audit-left-out",
    breaks: "The use of a key is not recorded in the idempotency stream.",
    file: COMMIT,
    edits: [{ find: "withEvents(planned, input.audit?.(planned.after, key) ?? [])", replace: "planned" }],
    caughtBy: ["test/contract/events.test.ts"],
  },
  {
    name: "core-revoked-handoff-works",
    breaks: "A session keeps working after its hand-off was revoked.",
    file: RESOLVE,
    edits: [
      {
        find: `  if (status === "revoked") {`,
        replace: `  if (status === "revoked" && key === undefined && lookup.target.versions.length === 0) {`,
      },
    ],
    caughtBy: ["test/contract/handoff-ends.test.ts"],
  },
  {
    name: "core-tenant-not-in-token-look-up",
    breaks: "A key of one tenant works with a token of another.",
    file: RESOLVE,
    edits: [
      {
        find: "||\n    (principal !== undefined && principal.tenant !== snapshot.submission.tenant);",
        replace: ";",
      },
    ],
    caughtBy: ["test/contract/tenants.test.ts"],
  },
  {
    name: "core-application-clock",
    breaks: "Expiry is decided by the server's clock, not the store's.",
    file: RESOLVE,
    edits: [
      {
        find: "    now: loaded.now,\n    submission,",
        replace: "    now: Date.now(),\n    submission,",
      },
    ],
    caughtBy: ["test/contract/tokens-expiry.test.ts"],
  },
  {
    name: "core-nothing-superseded",
    breaks: "A single-file field that was announced twice waits for both files.",
    file: "packages/core/src/domain/decide/request-upload.ts",
    edits: [
      {
        find: "  if (maxFilesAt(field, intake) > 1) return [];\n",
        replace: "  if (maxFilesAt(field, intake) > 0) return [];\n",
      },
    ],
    caughtBy: ["test/contract/uploads-pending.test.ts", "packages/core/src/domain/decide/uploads.test.ts"],
  },
  {
    name: "core-strangers-get-grace",
    breaks: "Partial files of anonymous callers are kept for a day.",
    file: "packages/core/src/domain/files/fate.ts",
    edits: [
      {
        find: "(anonymous === true ? Math.min(clockSkewMs, uploadGraceMs) : uploadGraceMs)",
        replace: "(anonymous === true ? uploadGraceMs : uploadGraceMs)",
      },
    ],
    caughtBy: ["test/contract/uploads-quotas.test.ts"],
  },
  {
    name: "core-late-bytes-stay",
    breaks: "Bytes that arrive for an upload that was abandoned meanwhile stay on the disk.",
    file: "packages/core/src/operations/receive-upload.ts",
    edits: [{ find: "    await inContract(requireStorage(context.deps.uploads).drop(name));\n", replace: "" }],
    caughtBy: ["test/contract/uploads-pending.test.ts"],
  },
  {
    name: "core-repeated-member",
    breaks: "Of two members with one name the last one counts, without an error.",
    file: "packages/core/src/domain/json-body.ts",
    edits: [{ find: "  if (countMembers(bytes) !== seen.keys) throw repeated(text);\n", replace: "" }],
    caughtBy: ["packages/core/src/domain/json-body.test.ts"],
  },
  {
    name: "core-overdue-shown-open",
    breaks: "A list shows what has expired as open until the sweep reaches it.",
    file: "packages/core/src/operations/list-submissions.ts",
    edits: [{ find: "readAt(openRow(deps.sealer, row), now, policy)", replace: "openRow(deps.sealer, row)" }],
    caughtBy: ["test/contract/expiry.test.ts"],
  },
  {
    name: "core-tombstone-of-nothing-new",
    breaks: "An erased submission stays among the published ones.",
    file: "packages/core/src/domain/publishing.ts",
    edits: [
      {
        find: 'return before.erasedAt === undefined ? { status: "erased" } : undefined;',
        replace: "return undefined;",
      },
    ],
    caughtBy: ["test/contract/oai.test.ts"],
  },
  {
    name: "core-harvest-of-this-second",
    breaks: "A harvest lists part of the current second, and the next one lists that part again.",
    file: "packages/core/src/operations/read/published.ts",
    edits: [
      {
        find: "Math.floor((await deps.backend.publications.horizon()) / SECOND) * SECOND",
        replace: "await deps.backend.publications.horizon()",
      },
    ],
    caughtBy: ["test/contract/oai.test.ts"],
  },
  {
    name: "core-incident-per-event",
    breaks: "An ongoing attack is a new incident with every flush.",
    file: "packages/core/src/domain/alarms/incident.ts",
    edits: [{ find: "at <= coversUntil(previous, blockMs)", replace: "at < previous.lastSeenAt" }],
    caughtBy: ["test/contract/alarms.test.ts"],
  },
  {
    name: "core-tenant-block-ignored",
    breaks: "A tenant's block refuses nobody.",
    file: "packages/core/src/operations/alarms/watch.ts",
    edits: [
      { find: "placeOf({ tenant, network: networkOf", replace: "placeOf({ tenant: DEFAULT_TENANT, network: networkOf" },
    ],
    caughtBy: ["test/contract/alarms.test.ts"],
  },
  {
    name: "core-signals-unbounded",
    breaks: "A flood of failed look-ups fills the memory.",
    file: "packages/core/src/operations/alarms/watch.ts",
    edits: [{ find: "pending.size >= MAX_SIGNALS && ", replace: "pending.size < 0 && " }],
    caughtBy: ["packages/core/src/operations/alarms/watch.test.ts"],
  },
  {
    name: "core-signals-lost",
    breaks: "Signals are lost when the windows can't count.",
    file: "packages/core/src/operations/alarms/watch.ts",
    edits: [{ find: "        for (const signal of signals.values()) keep(signal);\n", replace: "" }],
    caughtBy: ["packages/core/src/operations/alarms/watch.test.ts"],
  },
  {
    name: "server-any-secret",
    breaks: "A server starts with a secret that opens nothing of its store.",
    file: "apps/server/src/check-secret.ts",
    edits: [{ find: "    refuseOtherSecret(checks, sealer);\n", replace: "" }],
    caughtBy: ["apps/server/test/secret-check.test.ts"],
  },
];
