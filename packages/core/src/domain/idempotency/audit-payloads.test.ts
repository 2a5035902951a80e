import { describe, expect, it } from "vitest";
import { payloadProblems } from "../../../test/payload-problems.ts";
import {
  conflictPayload,
  keyCreatedPayload,
  keyExpiredPayload,
  lockContentionPayload,
  replayPayload,
} from "./audit-payloads.ts";
import type { KeyRecord } from "./key-record.ts";

const at = Date.parse("2026-03-01T12:00:00.000Z");
const HOUR = 3_600_000;
const ref = { operation: "submit", hash: "a".repeat(64) } as const;
const record: KeyRecord = {
  ref,
  submissionId: "sub_1",
  fingerprint: "b".repeat(64),
  principal: "actor:agent:bot:7",
  carriedVersion: 1,
  failed: false,
  answer: "sealed",
  recordedAt: at,
  expiresAt: at + 24 * HOUR,
};
const about = { record, intakeId: "vendor", now: at + HOUR };
const key = { operation: "submit", intakeId: "vendor", keyHash: ref.hash };

describe("events of the idempotency stream", () => {
  it("a recorded key has its retention time", () => {
    const payload = keyCreatedPayload({ ref, intakeId: "vendor", now: at, expiresAt: at + HOUR });
    expect(payload).toEqual({ ...key, ttl_ms: HOUR, expiresAt: "2026-03-01T13:00:00.000Z" });
    expect(payloadProblems("idempotency.key.created", payload)).toEqual([]);
  });

  it("a replay has its number and the age of the response", () => {
    const payload = replayPayload({ ...about, replayCount: 2 });
    expect(payload).toMatchObject({ ...key, replayCount: 2, timeSinceOriginal_ms: HOUR });
    expect(payload.originalTimestamp).toBe("2026-03-01T12:00:00.000Z");
    expect(payloadProblems("idempotency.replay", payload)).toEqual([]);
  });

  it.each([
    ["actor:agent:bot:7", { kind: "agent", id: "bot:7" }],
    ["handoff:hof_1", { kind: "human", id: "hof_1" }],
    ["submission:sub_1", { kind: "unknown", id: "token_bearer" }],
    ["idempotency-key", { kind: "unknown", id: "anonymous" }],
  ])("a conflict with a record of %s names both requests by their hashes", (principal, originalActor) => {
    const conflict = { ...about, record: { ...record, principal }, fingerprint: "c".repeat(64) };
    const payload = conflictPayload({ ...conflict, verdict: "conflict" });
    expect(payload).toMatchObject({
      conflict_type: "payload_mismatch",
      originalRequestHash: "b".repeat(64),
      conflictingRequestHash: "c".repeat(64),
      originalActor,
    });
    expect(payloadProblems("idempotency.conflict", payload)).toEqual([]);
    expect(conflictPayload({ ...conflict, verdict: "foreign" }).conflict_type).toBe("key_collision");
  });

  it.each(["ttl_elapsed", "explicit_delete"] as const)(
    "a removed key has its age, its number of replays and the reason: %s",
    (reason) => {
      const payload = keyExpiredPayload({ ...record, intakeId: "vendor", now: at + 25 * HOUR, replayCount: 5, reason });
      expect(payload).toEqual({
        ...key,
        ttl_ms: 24 * HOUR,
        lifetime_ms: 25 * HOUR,
        replayCount: 5,
        reason,
      });
      expect(payloadProblems("idempotency.key.expired", payload)).toEqual([]);
    },
  );

  it("a request that waited has the time, the length of the queue, and the holder", () => {
    const payload = lockContentionPayload({ ref, intakeId: "vendor", waitMs: 12.6, queueDepth: 3, lockHolder: "i-1" });
    expect(payload).toEqual({ ...key, waitTime_ms: 13, queueDepth: 3, lockHolder: "i-1" });
    expect(payloadProblems("idempotency.lock.contention", payload)).toEqual([]);
  });
});
