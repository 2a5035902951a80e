import type { PlantedBug } from "../planted-bug.ts";

const COMMIT = "packages/core/src/operations/support/commit.ts";
const RESOLVE = "packages/core/src/operations/support/resolve-target.ts";

export const CORE: readonly PlantedBug[] = [
  {
    name: "core-readers-not-woken",
    breaks: "A reader of the live stream is not woken by a write.",
    file: COMMIT,
    edits: [
      {
        find: "    if (plan.events.length > 0) deps.wakeups.notify(after.submissionId);\n",
        replace: "",
      },
    ],
    caughtBy: ["test/contract/events-stream.test.ts"],
  },
  {
    name: "core-no-deadline",
    breaks: "A write that was begun in time is committed after the submission's time.",
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
    breaks: "The answer under a key is not recorded with the change, and the retry is executed again.",
    file: COMMIT,
    edits: [{ find: "    ...(input.keyWrite && { key: input.keyWrite(after, token) }),\n", replace: "" }],
    caughtBy: ["test/contract/idempotency.test.ts"],
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
    breaks: "The job of a submission that was cancelled stays.",
    file: COMMIT,
    edits: [{ find: "    dropJobs: [...(decision.dropJobs ?? []), ", replace: "    dropJobs: [" }],
    caughtBy: ["test/contract/states-ends.test.ts"],
  },
  {
    name: "core-audit-left-out",
    breaks: "The use of a key is not told in the idempotency stream.",
    file: COMMIT,
    edits: [{ find: ", ...(input.audit?.(after) ?? [])],", replace: "]," }],
    caughtBy: ["test/contract/events.test.ts"],
  },
  {
    name: "core-revoked-handoff-works",
    breaks: "A session goes on after its hand-off was revoked.",
    file: RESOLVE,
    edits: [
      {
        find: `  if (standing === "revoked") {`,
        replace: `  if (standing === "revoked" && key === undefined && seeker.target.versions.length === 0) {`,
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
        find: "    now: loaded.now,\n    submission: openRow",
        replace: "    now: Date.now(),\n    submission: openRow",
      },
    ],
    caughtBy: ["test/contract/tokens-expiry.test.ts"],
  },
];
