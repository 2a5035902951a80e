import type { PlantedBug } from "../planted-bug.ts";

const APPLY = "packages/store-sqlite/src/writer/apply-change.ts";
const CONFORMANCE = "packages/store-sqlite/test/conformance.test.ts";
const FSYNC = "test/faults/fsync-before-answer.test.ts";

export const SQLITE: readonly PlantedBug[] = [
  {
    name: "sqlite-no-revision-guard",
    breaks: "Of two writes on one revision the later one overwrites the earlier one.",
    file: APPLY,
    edits: [{ find: "standing?.revision === expectedRevision &&", replace: "standing !== undefined &&" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-record-overwritten",
    breaks: "The same request under the same key is executed again, and its record overwrites the first.",
    file: APPLY,
    edits: [
      {
        find: "record.fingerprint !== scope?.replaces)",
        replace: "![scope?.replaces, change.record?.[3]].includes(record.fingerprint))",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-record-kept-when-refused",
    breaks: "A change that is refused leaves its idempotency record, which is then replayed as an answer.",
    file: APPLY,
    edits: [
      {
        find: "    if (refused !== undefined) return refused;",
        replace: `    if (refused !== undefined) {
      if (standing !== undefined) writeRecord(change, standing, { sid: standing.sid, at });
      return refused;
    }`,
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-deadline-not-checked",
    breaks: "A write that comes after the submission's time is taken.",
    file: APPLY,
    edits: [{ find: "notAfter !== null && at > notAfter", replace: "false" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-token-outside-commit",
    breaks: "The new token is written by itself after the commit: a crash in between leaves a submission without one.",
    file: APPLY,
    edits: [
      { find: "    tokens.issue(owner, change);", replace: "    queueMicrotask(() => tokens.issue(owner, change));" },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-event-outside-commit",
    breaks:
      "Events are written by themselves after the commit: a crash in between leaves a change without its history.",
    file: APPLY,
    edits: [
      {
        find: "    append(owner, events);",
        replace: "    queueMicrotask(() => append(owner, events));",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-event-after-answer",
    breaks: "Events are written some time after the answer.",
    file: APPLY,
    edits: [
      {
        find: "    append(owner, events);",
        replace: "    setImmediate(() => append(owner, events));",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-job-outside-commit",
    breaks: "Jobs are written by themselves after the commit: a crash in between leaves a submission undelivered.",
    file: APPLY,
    edits: [
      {
        find: "    for (const job of change.jobs) jobs.put(change, job);",
        replace: "    queueMicrotask(() => change.jobs.forEach((job) => void jobs.put(change, job)));",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-handoff-outside-commit",
    breaks: "Hand-offs are written by themselves after the commit: a crash in between leaves a revoked link open.",
    file: APPLY,
    edits: [
      {
        find: "    for (const handoff of change.handoffs) handoffs.put(handoff);",
        replace: "    queueMicrotask(() => change.handoffs.forEach((handoff) => void handoffs.put(handoff)));",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-handoff-remembered",
    breaks: "The look-up by session remembers hand-offs and does not see that one was revoked.",
    file: "packages/store-sqlite/src/handoffs.ts",
    edits: [
      {
        find: "  return (hash) => {\n    const doc = find.get(hash);",
        replace: `  const seen = new Map<string, string | undefined>();
  return (hash) => {
    const doc = seen.get(hash) ?? find.get(hash);
    seen.set(hash, doc);`,
      },
    ],
    caughtBy: [CONFORMANCE, "test/contract/handoff-ends.test.ts"],
  },
  {
    name: "sqlite-row-remembered",
    breaks: "A row in memory is not replaced by the commit that changes it.",
    file: "packages/store-sqlite/src/row-cache.ts",
    edits: [
      {
        find: "sealedToken === undefined) drop(submissionId);\n    else",
        replace: "sealedToken === undefined) drop(submissionId);\n    else if (find(submissionId) === undefined)",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-rotated-token-believed",
    breaks: "A token that was rotated is still taken for the current one while its row is in memory.",
    file: "packages/store-sqlite/src/row-cache.ts",
    edits: [{ find: "entry?.token === token ? opened(entry) : undefined;", replace: "opened(entry);" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-failed-change-half-written",
    breaks: "What a change wrote before it failed is committed with its group.",
    file: "packages/store-sqlite/src/writer/write-batch.ts",
    edits: [{ find: "      undo.run();\n", replace: "" }],
    caughtBy: [CONFORMANCE, "packages/store-sqlite/test/group-commit.test.ts"],
  },
  {
    name: "sqlite-job-settled-by-anybody",
    breaks: "A worker whose lease ran out ends the job that another has claimed since.",
    file: "packages/store-sqlite/src/writer/jobs.ts",
    edits: [{ find: " AND run_at = @runAt AND attempt = @attempt AND leased_until = @leasedUntil`;", replace: "`;" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-tenant-not-in-events",
    breaks: "Whoever knows an id reads the history of another tenant's submission.",
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
    breaks:
      "When the newest submission is removed, its places in the feed are given out again: who follows it misses events.",
    file: "packages/store-sqlite/src/writer/retention.ts",
    edits: [
      {
        find: `    "UPDATE commits SET sid = 0, tenant = '', events = '[]', hashes = x'', said = '[]' WHERE sid = ? AND position = (SELECT max(position) FROM commits)",\n`,
        replace: "",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-event-shown-twice",
    breaks: "A page of the feed begins with the last event of the page before it.",
    file: "packages/store-sqlite/src/events.ts",
    edits: [{ find: "    position > after &&", replace: "    position >= after &&" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-rest-of-commit-skipped",
    breaks: "Whoever reads on after an event misses the others of its commit.",
    file: "packages/store-sqlite/src/events.ts",
    edits: [{ find: "return firstPosition(last, resting) + index;", replace: "return last;" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-tenant-not-in-records",
    breaks: "A key of one tenant finds the recorded answer of another.",
    file: "packages/store-sqlite/src/writer/records.ts",
    edits: [{ find: "AND intake_id = ? AND tenant = ? AND (", replace: "AND intake_id = ? AND ? IS NOT NULL AND (" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "sqlite-answer-before-commit",
    breaks: "A group of writes is answered before its COMMIT, and so before the disk has it.",
    file: "packages/store-sqlite/src/writer/write-batch.ts",
    edits: [
      {
        find: "      commit.run();",
        replace: "      queueMicrotask(() => commit.run());",
      },
    ],
    caughtBy: [FSYNC],
  },
  {
    name: "sqlite-commit-not-synced",
    breaks: "A COMMIT does not wait for the disk: a power failure loses what was answered.",
    file: "packages/store-sqlite/src/database.ts",
    edits: [{ find: `db.pragma("synchronous = FULL");`, replace: `db.pragma("synchronous = NORMAL");` }],
    caughtBy: [FSYNC],
  },
];
