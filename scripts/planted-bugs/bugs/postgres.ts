import type { PlantedBug } from "../planted-bug.ts";

const COMMIT = "packages/store-postgres/src/commit-statement.ts";
const BATCHES = "packages/store-postgres/src/group-commit.ts";
const CONFORMANCE = "packages/store-postgres/test/conformance.test.ts";
const RACES = "packages/store-postgres/test/races.test.ts";
const FEED = "packages/store-postgres/test/feed.test.ts";
const GROUPS = "packages/store-postgres/test/groups.test.ts";
const FAILURES = "packages/store-postgres/test/failures.test.ts";

/** The schema snapshot notices every change to a function's text; that proves nothing, so it isn't listed. */
export const POSTGRES: readonly PlantedBug[] = [
  {
    name: "postgres-no-revision-guard",
    breaks: "Of two writes that read the same revision the later one overwrites the earlier one.",
    file: COMMIT,
    edits: [
      { find: "AND s.revision = n.expected_revision", replace: "AND s.revision >= n.expected_revision" },
      { find: " AND s.revision < EXCLUDED.revision", replace: "" },
    ],
    caughtBy: [CONFORMANCE, FAILURES, RACES],
  },
  {
    name: "postgres-create-overwrites",
    breaks: "A create with an id that is taken replaces the existing submission.",
    file: COMMIT,
    edits: [{ find: " AND s.revision < EXCLUDED.revision", replace: "" }],
    caughtBy: [GROUPS],
  },
  {
    name: "postgres-record-overwritten",
    breaks: "Of two writes under one key the later one overwrites the record of the first.",
    file: COMMIT,
    edits: [{ find: "WHERE r.live_until <= EXCLUDED.recorded_at\n", replace: "WHERE true\n" }],
    caughtBy: [RACES],
  },
  {
    name: "postgres-deadline-not-checked",
    breaks: "A write after the submission's deadline is accepted.",
    file: COMMIT,
    edits: [{ find: " OR clock.at <= n.not_after)", replace: " OR true)" }],
    caughtBy: [CONFORMANCE, GROUPS, FAILURES],
  },
  {
    name: "postgres-deadline-not-checked-after-wait",
    breaks: "A write that waited for its key past its deadline is accepted.",
    file: COMMIT,
    edits: [{ find: " OR formbridge.now_ms() <= n.not_after)", replace: " OR true)" }],
    caughtBy: [FAILURES],
  },
  {
    name: "postgres-record-without-change",
    breaks: "A record is kept although its change came too late.",
    file: COMMIT,
    edits: [{ find: "THEN formbridge.undo() ELSE true END", replace: "THEN true ELSE true END" }],
    caughtBy: [FAILURES],
  },
  {
    name: "postgres-event-left-out",
    breaks: "The token and idempotency streams get no events.",
    file: COMMIT,
    edits: [{ find: " ORDER BY e.ordinality)", replace: " AND e.stream = 'submission' ORDER BY e.ordinality)" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-failure-swallowed",
    breaks: "A job that can't be written is left out, and the rest of the change is committed without it.",
    file: BATCHES,
    edits: [
      { find: " && (batch.length > 1 || codeOf(error) === UNDONE);", replace: ";" },
      {
        find: "    if (codeOf(error) === UNDONE) return undefined;\n    throw error;",
        replace:
          "    return (await write(writer, [{ ...pending, written: { ...pending.written, jobs: [] } }])).values().next().value;",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-feed-past-running-writes",
    breaks: "The feed shows what comes after a write that is still in flight, and later skips that write.",
    file: "packages/store-postgres/src/migrations/0001-feed.ts",
    edits: [{ find: "RETURN least(drawn, in_flight);", replace: "RETURN drawn;" }],
    caughtBy: [FEED],
  },
  {
    name: "postgres-write-without-place-in-feed",
    breaks: "A write doesn't publish the position where it began, so readers of the feed may skip it.",
    file: COMMIT,
    edits: [{ find: "FROM begun, ", replace: "FROM " }],
    caughtBy: [FEED],
  },
  {
    name: "postgres-tenant-not-in-load",
    breaks: "Another tenant's submission can be loaded by its id.",
    file: "packages/store-postgres/src/load.ts",
    edits: [{ find: "hasTenant = true", replace: "hasTenant = false" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-handoff-not-replaced",
    breaks: "The sessions of a revoked hand-off still find its old state.",
    file: COMMIT,
    edits: [{ find: 'replaced(handoffs, "handoff_id")', replace: 'replaced(handoffs, "handoff_id", "doc")' }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-record-outlives-end",
    breaks: "A recorded response is kept forever, although its submission has ended.",
    file: COMMIT,
    edits: [{ find: "AND r.live_until IS NULL\n", replace: "AND false\n" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-job-claimed-twice",
    breaks: "A job is claimed by a second worker during the lease of the first.",
    file: "packages/store-postgres/src/jobs.ts",
    edits: [{ find: " AND j.leased_until <= (SELECT now FROM clock)", replace: "" }],
    caughtBy: [CONFORMANCE, RACES],
  },
  {
    name: "postgres-application-clock",
    breaks: "Whether a recorded response has expired is decided by the server's clock, not the database's.",
    file: "packages/store-postgres/src/idempotency.ts",
    edits: [{ find: "r.live_until > formbridge.now_ms())", replace: `r.live_until > \${Date.now()})` }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-other-processes-not-woken",
    breaks: "A reader at one instance is not woken by a write at another.",
    file: "packages/store-postgres/src/wakeups.ts",
    edits: [{ find: "if (sender !== self) for (const", replace: "if (sender === self) for (const" }],
    caughtBy: ["packages/store-postgres/test/wakeups.test.ts"],
  },
  {
    name: "postgres-not-durable",
    breaks: "A role that switches synchronous_commit off loses acknowledged writes.",
    file: "packages/store-postgres/src/database.ts",
    edits: [{ find: ", onConnect: isPooled ? expectDurable : makeDurable });", replace: " });" }],
    caughtBy: ["packages/store-postgres/test/durability.test.ts", "apps/server/test/pooler.test.ts"],
  },
  {
    name: "postgres-health-only-reads",
    breaks: "A read-only database is reported as healthy.",
    file: "packages/store-postgres/src/health.ts",
    edits: [{ find: "if (state?.read_only !== false) return", replace: "if (state === undefined) return" }],
    caughtBy: ["packages/store-postgres/test/durability.test.ts"],
  },
];
