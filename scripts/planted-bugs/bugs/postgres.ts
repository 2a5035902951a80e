import type { PlantedBug } from "../planted-bug.ts";

const COMMIT = "packages/store-postgres/src/migrations/0004-commit.ts";
const GROUP = "packages/store-postgres/src/group-statement.ts";
const CONFORMANCE = "packages/store-postgres/test/conformance.test.ts";
const RACES = "packages/store-postgres/test/races.test.ts";
const FEED = "packages/store-postgres/test/feed.test.ts";
const GROUPS = "packages/store-postgres/test/groups.test.ts";
const FAILURES = "packages/store-postgres/test/failures.test.ts";
const READ_CACHE = "packages/store-postgres/test/read-cache.test.ts";

/** The snapshot of the schema sees every change of a function's text; it is no proof, and not named here. */
export const POSTGRES: readonly PlantedBug[] = [
  {
    name: "postgres-no-revision-guard",
    breaks: "Of two writes that read the same revision the later one overwrites the earlier one.",
    file: COMMIT,
    edits: [
      {
        find: " AND s.revision = p_expected_revision\n          RETURNING 1)",
        replace: "\n          RETURNING 1)",
      },
    ],
    caughtBy: [FAILURES, RACES],
  },
  {
    name: "postgres-record-overwritten",
    breaks: "Two writes under one key do not wait for each other, and the later record overwrites the first.",
    file: COMMIT,
    edits: [
      {
        find: "        PERFORM pg_advisory_xact_lock(hashtext(kept.hash), hashtext(kept.operation || p_intake_id || ' ' || p_tenant));\n",
        replace: "",
      },
      { find: "\n            WHERE r.live_until <= at OR r.fingerprint = kept.replaces;", replace: ";" },
    ],
    caughtBy: [RACES],
  },
  {
    name: "postgres-deadline-not-checked",
    breaks: "A write that comes after the submission's time is taken.",
    file: COMMIT,
    edits: [
      {
        find: "        IF at > p_not_after THEN\n          RETURN",
        replace: "        IF false THEN\n          RETURN",
      },
      { find: "      IF at > p_not_after THEN\n        RAISE", replace: "      IF false THEN\n        RAISE" },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-deadline-not-checked-after-wait",
    breaks: "A write that waited for another one past its deadline is taken.",
    file: COMMIT,
    edits: [{ find: "      IF at > p_not_after THEN\n        RAISE", replace: "      IF false THEN\n        RAISE" }],
    caughtBy: [FAILURES],
  },
  {
    name: "postgres-event-left-out",
    breaks: "The token and idempotency streams get no events.",
    file: COMMIT,
    edits: [
      {
        find: "(SELECT cardinality(p_events)), 15)",
        replace: "(SELECT cardinality(p_events) - 15 * p_chained), 15)",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-failure-swallowed",
    breaks: "A job that can't be written is left out, and the rest of the change is committed without it.",
    file: COMMIT,
    edits: [
      {
        find: "      IF p_jobs IS NOT NULL THEN\n        INSERT INTO formbridge.jobs",
        replace: "      IF p_jobs IS NOT NULL THEN BEGIN\n        INSERT INTO formbridge.jobs",
      },
      {
        find: "attempt = 0, leased_until = 0;\n      END IF;",
        replace: "attempt = 0, leased_until = 0;\n        EXCEPTION WHEN OTHERS THEN NULL; END;\n      END IF;",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-feed-past-running-writes",
    breaks: "The feed shows what comes after a write that is still running, and later passes that write over.",
    file: "packages/store-postgres/src/migrations/0005-feed.ts",
    edits: [{ find: "RETURN least(drawn, running);", replace: "RETURN drawn;" }],
    caughtBy: [FEED],
  },
  {
    name: "postgres-write-without-place-in-feed",
    breaks: "A write does not tell readers of the feed where it began, and may be passed over.",
    file: COMMIT,
    edits: [
      {
        find: "      PERFORM pg_advisory_xact_lock_shared(formbridge.position_lock(formbridge.last_position()));\n",
        replace: "",
      },
    ],
    caughtBy: [FEED],
  },
  {
    name: "postgres-group-no-revision-guard",
    breaks: "Of writes that arrive together, one on an old revision overwrites what was written since.",
    file: GROUP,
    edits: [
      { find: "             AND s.revision = ", replace: "             AND s.revision >= " },
      { find: "          WHERE s.revision < EXCLUDED.revision\n", replace: "" },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-group-deadline-not-checked",
    breaks: "A write that arrives together with others after the submission's time is taken.",
    file: GROUP,
    edits: [{ find: " OR clock.at <= ", replace: " OR clock.at <> " }],
    caughtBy: [CONFORMANCE, GROUPS],
  },
  {
    name: "postgres-group-create-overwrites",
    breaks: "A create with an id that is taken puts itself in the place of what is there.",
    file: GROUP,
    edits: [{ find: "          WHERE s.revision < EXCLUDED.revision\n", replace: "" }],
    caughtBy: [GROUPS],
  },
  {
    name: "postgres-group-without-place-in-feed",
    breaks: "Writes that arrive together do not tell readers of the feed where they began, and may be passed over.",
    file: GROUP,
    edits: [{ find: "FROM begun, ", replace: "FROM " }],
    caughtBy: [FEED],
  },
  {
    name: "postgres-group-ends-without-records",
    breaks: "A write that ends a submission without more leaves its recorded answers for ever.",
    file: "packages/store-postgres/src/group-commit.ts",
    edits: [{ find: "(events.length === 0 || endedAt(row.submission) === undefined)", replace: "row !== undefined" }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-tenant-not-in-load",
    breaks: "Whoever knows an id loads the submission of another tenant.",
    file: "packages/store-postgres/src/load-statements.ts",
    edits: [{ find: 'isTenant("s.tenant", "q.tenant")', replace: 'isTenant("s.tenant", "s.tenant")' }],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-handoff-not-replaced",
    breaks: "A hand-off that was revoked is still found as it was by its sessions.",
    file: COMMIT,
    edits: [
      {
        find: "SET forget_after = EXCLUDED.forget_after, doc = EXCLUDED.doc;",
        replace: "SET forget_after = EXCLUDED.forget_after;",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-record-outlives-end",
    breaks: "A recorded answer is kept for ever, although its submission has ended.",
    file: COMMIT,
    edits: [
      {
        find: "IF p_ended_at IS NOT NULL AND was_ended_at IS NULL AND p_expected_revision IS NOT NULL THEN",
        replace: "IF false THEN",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "postgres-job-claimed-twice",
    breaks: "A job is given to a second worker while the first has its lease.",
    file: "packages/store-postgres/src/jobs.ts",
    edits: [{ find: " AND j.leased_until <= (SELECT now FROM clock)", replace: "" }],
    caughtBy: [CONFORMANCE, RACES],
  },
  {
    name: "postgres-application-clock",
    breaks: "Whether a recorded answer has expired is decided by the server's clock, not the database's.",
    file: "packages/store-postgres/src/idempotency.ts",
    edits: [
      {
        find: "(r.live_until IS NULL OR r.live_until > formbridge.now_ms())`,",
        replace: "(r.live_until IS NULL OR r.live_until > ` + Date.now() + `)`,",
      },
    ],
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
    name: "postgres-revoked-key-remembered",
    breaks: "A key that another process has revoked still works where it was used before.",
    file: "packages/store-postgres/src/read-cache.ts",
    edits: [
      {
        find: "if (current !== asOf || entries.size >= MAX_ENTRIES) entries.clear();",
        replace: "if (entries.size >= MAX_ENTRIES) entries.clear();",
      },
    ],
    caughtBy: [READ_CACHE],
  },
  {
    name: "postgres-read-before-change-remembered",
    breaks: "A key that was being read while it was revoked works from then on.",
    file: "packages/store-postgres/src/read-cache.ts",
    edits: [{ find: "value !== undefined && current !== null && current === asOf", replace: "value !== undefined" }],
    caughtBy: [READ_CACHE],
  },
  {
    name: "postgres-changes-of-keys-not-told",
    breaks: "A change of a key is not told to those who remember it.",
    file: "packages/store-postgres/src/migrations/0011-read-cache.ts",
    edits: [
      {
        find: "CREATE CONSTRAINT TRIGGER forget_remembered AFTER INSERT OR UPDATE OR DELETE ON formbridge.api_keys",
        replace: "CREATE CONSTRAINT TRIGGER forget_remembered AFTER INSERT ON formbridge.api_keys",
      },
    ],
    caughtBy: [READ_CACHE],
  },
];
