import type { PlantedBug } from "../planted-bug.ts";

const COMMIT = "packages/store-sqlite/src/commit.ts";
const WRITER = "packages/store-sqlite/src/writer.ts";
const CONFORMANCE = "packages/store-sqlite/test/conformance.test.ts";
const FSYNC = "test/faults/fsync-before-answer.test.ts";

export const SQLITE: readonly PlantedBug[] = [
  {
    name: "sqlite-no-revision-guard",
    breaks: "Of two writes on one revision the later one overwrites the earlier one.",
    file: COMMIT,
    edits: [{ find: "stored?.revision !== expect.revision ||", replace: "stored === undefined ||" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-record-overwritten",
    breaks: "The same request under the same key is executed again, and its record overwrites the first.",
    file: COMMIT,
    edits: [
      {
        find: "record.fingerprint !== key?.replaces)",
        replace: "![key?.replaces, key?.fingerprint].includes(record.fingerprint))",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-record-kept-when-refused",
    breaks: "A change that is refused leaves its idempotency record, which is then replayed.",
    file: COMMIT,
    edits: [
      {
        find: "    if (refused !== undefined) return refused;",
        replace: `    if (refused !== undefined) {
      if (stored !== undefined) writeRecord(change, stored, { sid: stored.sid, at });
      return refused;
    }`,
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-deadline-not-checked",
    breaks: "A write after the submission's deadline is accepted.",
    file: COMMIT,
    edits: [{ find: "expect.notAfter !== undefined && at > expect.notAfter", replace: "false" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-token-outside-commit",
    breaks: "The new token is written by itself after the commit: a crash in between leaves a submission without one.",
    file: COMMIT,
    edits: [{ find: "    issueToken(sid, change);", replace: "    queueMicrotask(() => issueToken(sid, change));" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-event-outside-commit",
    breaks:
      "Events are written by themselves after the commit: a crash in between leaves a change without its history.",
    file: COMMIT,
    edits: [
      {
        find: "    for (const event of change.events) appendEvent(sid, change, event);",
        replace: "    queueMicrotask(() => change.events.forEach((event) => appendEvent(sid, change, event)));",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-event-after-answer",
    breaks: "Events are written only after the response.",
    file: COMMIT,
    edits: [
      {
        find: "    for (const event of change.events) appendEvent(sid, change, event);",
        replace: "    setImmediate(() => change.events.forEach((event) => appendEvent(sid, change, event)));",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-job-outside-commit",
    breaks: "Jobs are written by themselves after the commit: a crash in between leaves a submission undelivered.",
    file: COMMIT,
    edits: [
      {
        find: "    jobs.put(change);",
        replace: "    queueMicrotask(() => jobs.put(change));",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-handoff-outside-commit",
    breaks: "Hand-offs are written by themselves after the commit: a crash in between leaves a revoked link open.",
    file: COMMIT,
    edits: [
      {
        find: "    for (const handoff of handoffsIn(side)) putHandoff(handoff);",
        replace: "    queueMicrotask(() => handoffsIn(side).forEach((handoff) => putHandoff(handoff)));",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-handoff-remembered",
    breaks: "The look-up by session caches hand-offs and doesn't see that one was revoked.",
    file: "packages/store-sqlite/src/handoffs.ts",
    edits: [
      {
        find: "  return (hash) => {\n    const found = find.get(hash);",
        replace: `  const seen = new Map<Hash, ReturnType<typeof find.get>>();
  return (hash) => {
    const found = seen.get(hash) ?? find.get(hash);
    seen.set(hash, found);`,
      },
    ],
    caughtBy: [CONFORMANCE, "test/contract/handoff-ends.test.ts"],
  },
  {
    name: "sqlite-cache-believed",
    breaks: "A key that another process has revoked is accepted until this process writes something.",
    file: "packages/store-sqlite/src/read-cache.ts",
    edits: [{ find: "current !== seen || entries.size", replace: "entries.size" }],
    caughtBy: ["packages/store-sqlite/test/exact-reads.test.ts"],
  },
  {
    name: "sqlite-failed-change-half-written",
    breaks: "What a change wrote before it failed is committed with its group.",
    file: WRITER,
    edits: [{ find: "      undo.run();\n", replace: "" }],
    caughtBy: [CONFORMANCE, "packages/store-sqlite/test/group-commit.test.ts"],
  },
  {
    name: "sqlite-job-settled-by-anybody",
    breaks: "A worker whose lease ran out ends the job that another has claimed since.",
    file: "packages/store-sqlite/src/jobs.ts",
    edits: [{ find: " AND run_at = @runAt AND attempt = @attempt AND leased_until = @leasedUntil`;", replace: "`;" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-tenant-not-in-events",
    breaks: "The history of another tenant's submission can be read by its id.",
    file: "packages/store-sqlite/src/events.ts",
    edits: [
      {
        find: `"SELECT sid FROM submissions WHERE submission_id = ? AND tenant = ?"`,
        replace: `"SELECT sid FROM submissions WHERE submission_id = ? AND ? IS NOT NULL"`,
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-position-given-twice",
    breaks: "When the newest submission is removed, its feed positions are reused: readers of the feed miss events.",
    file: "packages/store-sqlite/src/retention.ts",
    edits: [
      {
        find: "        return sids.length;",
        replace: `        db.exec("UPDATE sqlite_sequence SET seq = coalesce((SELECT max(position) FROM events), 0) WHERE name = 'events'");
        return sids.length;`,
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-event-shown-twice",
    breaks: "A page of the feed begins with the last event of the page before it.",
    file: "packages/store-sqlite/src/events.ts",
    edits: [
      {
        find: "WHERE e.position > @after AND e.position <= @end",
        replace: "WHERE e.position >= @after AND e.position <= @end",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-event-skipped-after-page",
    breaks: "A reader who continues after an event misses the next one.",
    file: "packages/store-sqlite/src/events.ts",
    edits: [
      { find: "WHERE e.sid = @sid AND e.position > @after", replace: "WHERE e.sid = @sid AND e.position > @after + 1" },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-tenant-not-in-records",
    breaks: "An idempotency key of one tenant finds the recorded response of another.",
    file: "packages/store-sqlite/src/records.ts",
    edits: [
      { find: "AND r.intake_id = ? AND r.tenant = ? AND (", replace: "AND r.intake_id = ? AND ? IS NOT NULL AND (" },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-answer-before-commit",
    breaks: "Writes of a group return before its COMMIT, and so before they are durable.",
    file: WRITER,
    edits: [
      {
        find: "      commit.run();",
        replace: "      setImmediate(() => commit.run());",
      },
    ],
    caughtBy: [FSYNC],
  },
  {
    name: "sqlite-commit-not-synced",
    breaks: "A COMMIT does not wait for the disk: a power failure loses acknowledged writes.",
    file: "packages/store-sqlite/src/database.ts",
    edits: [{ find: `db.pragma("synchronous = FULL");`, replace: `db.pragma("synchronous = NORMAL");` }],
    caughtBy: [FSYNC],
  },
  {
    name: "sqlite-shared-claim",
    breaks: "Two servers can own one file.",
    file: "packages/store-sqlite/src/ownership.ts",
    edits: [{ find: "BEGIN EXCLUSIVE", replace: "BEGIN" }],
    caughtBy: ["apps/server/test/file-owner.test.ts"],
  },
  {
    name: "sql-webhook-claimed-twice",
    breaks: "A worker claims a webhook that another one holds, and its events are sent twice and out of order.",
    file: "packages/store-sql/src/webhooks.ts",
    edits: [{ find: `w.state = 'active' AND w.leased_until <= \${now}\n`, replace: "w.state = 'active'\n" }],
    caughtBy: [CONFORMANCE, "packages/store-postgres/test/conformance.test.ts"],
  },
  {
    name: "sql-key-revoked-by-other-tenant",
    breaks: "An admin of one tenant can revoke another tenant's API keys.",
    file: "packages/store-sql/src/keys.ts",
    edits: [
      {
        find: "WHERE key_id = $1 AND tenant = $2 AND NOT revoked RETURNING",
        replace: "WHERE key_id = $1 AND $2 <> '' AND NOT revoked RETURNING",
      },
    ],
    caughtBy: [CONFORMANCE, "packages/store-postgres/test/conformance.test.ts"],
  },
  {
    name: "sqlite-erased-content-kept",
    breaks: "A tombstone still has the content of the record that was erased.",
    file: "packages/store-sqlite/src/publications.ts",
    edits: [{ find: ", content = excluded.content", replace: "" }],
    caughtBy: ["test/contract/oai.test.ts"],
  },
];
