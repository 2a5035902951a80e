import { expect, test } from "vitest";
import { campaign } from "./campaign.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
/** One seed, to see one failure again; or the number of operations of a whole campaign. */
const seed = process.env.FORMBRIDGE_SIM_SEED;
const OPERATIONS = seed !== undefined ? 1 : isLong ? 5_000_000 : 200_000;
const FIRST_SEED = Number(seed ?? (isLong ? 1_000_000 : 1));

test("whatever callers, faults and races do, the submissions are what the contract says [CONCURRENCY-ONE-WINS] [CONCURRENCY-NOTHING-LOST] [HANDOFF-ONE-WINS] [HANDOFF-REVOKED] [STATES-TABLE] [STATES-TERMINAL] [EVENTS-SEQ] [EVENTS-CHAIN]", {
  timeout: isLong ? 3_600_000 : 240_000,
}, async () => {
  const began = performance.now();
  const { episodes, operations, seen, failure } = await campaign({ firstSeed: FIRST_SEED, operations: OPERATIONS });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(
    `simulation: ${operations} operations in ${episodes} episodes from seed ${FIRST_SEED}, ${seconds} s\n`,
  );
  if (failure !== undefined) throw new Error(failure);
  if (seed !== undefined) return;
  expect(missingFrom(seen), "the campaign never saw").toEqual([]);
});

/** A simulation proves nothing about what it never tried. */
const WANTED = [
  "create ✓ draft",
  "create ✓ in_progress",
  "create ✓ in_progress replay",
  "create ✗ conflict",
  "create ✗ expired",
  "setFields ✓ in_progress",
  "setFields ✓ in_progress replay",
  "setFields ✗ token_conflict",
  "setFields ✗ token_expired",
  "setFields ✗ needs_approval",
  "setFields ✗ locked",
  "setFields ✗ service_unavailable",
  "setFields ✗ expired",
  "submit ✓ finalized",
  "submit ✓ finalized replay",
  "submit ✓ needs_review",
  "submit ✓ submitted",
  "submit ✗ missing",
  "submit ✗ upload_pending",
  "review ✓ needs_review",
  "review ✓ approved",
  "review ✓ rejected",
  "confirmUpload ✓ in_progress",
  "confirmUpload ✗ invalid",
  "cancel ✓ cancelled",
  "revoke ✓ in_progress",
  "reissue ✓ in_progress",
  "handoff ✓ in_progress",
  "openSession ✓ in_progress",
  "openSession ✗ token_expired",
  "revokeHandoff ✓ in_progress",
  "session setFields ✓ in_progress",
  "session setFields ✓ in_progress replay",
  "session setFields ✗ token_conflict",
  "session setFields ✗ token_expired",
  "session setFields ✗ token_required",
  "session get ✓ in_progress",
  "session submit ✓ finalized",
  "session reissue ✗ forbidden",
  "retryDelivery ✓ approved",
  "retryDelivery ✓ submitted",
];
const missingFrom = (seen: Map<string, number>): string[] => WANTED.filter((name) => !seen.has(name));
