import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprint } from "./fingerprint.ts";
import type { KeyRecord } from "./key-record.ts";
import { matchRecord, type Retry, writtenVersion } from "./match-record.ts";

const SUBMISSION = "sub_1";
const meaning = (version: number, submissionId = SUBMISSION): string =>
  fingerprint({ operation: "submit", submissionId, version });

const record = (over: Partial<KeyRecord> = {}): KeyRecord => ({
  ref: { operation: "submit", hash: "a".repeat(64) },
  submissionId: SUBMISSION,
  fingerprint: meaning(over.carriedVersion ?? 3),
  principal: "actor:agent:bot",
  carriedVersion: 3,
  failed: false,
  answer: "sealed",
  recordedAt: 0,
  expiresAt: 1,
  ...over,
});

const retry = (over: Partial<Retry> & { carriedVersion: number }): Retry => ({
  fingerprint: meaning(over.carriedVersion, over.submissionId),
  principal: "actor:agent:bot",
  submissionId: SUBMISSION,
  currentVersion: over.carriedVersion,
  writtenVersion: 2,
  ...over,
});

describe("a submit that repeats key and submission", () => {
  it("[IDEMPOTENCY-SAME-SUBMIT] is a replay with the token of the original, whatever was written since", () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(100), (currentVersion, written) => {
        const again = retry({ carriedVersion: 3, currentVersion, writtenVersion: written });
        expect(matchRecord(record(), again)).toBe("replay");
      }),
    );
  });

  it("[IDEMPOTENCY-SAME-SUBMIT] is a replay with the current token exactly as long as nothing was written since", () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 50 }), fc.nat(50), (current, written) => {
        const again = retry({ carriedVersion: current, writtenVersion: written });
        expect(matchRecord(record(), again)).toBe(written <= 3 ? "replay" : "conflict");
      }),
    );
  });

  it("[IDEMPOTENCY-SAME-SUBMIT] is a conflict with a token in between", () => {
    expect(matchRecord(record(), retry({ carriedVersion: 4, currentVersion: 5 }))).toBe("conflict");
  });

  it("[IDEMPOTENCY-SAME-SUBMIT] is a new attempt on any newer version if it had failed, and the same 422 on the same version", () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 50 }), fc.nat(50), (current, written) => {
        const again = retry({ carriedVersion: current, writtenVersion: written });
        expect(matchRecord(record({ failed: true }), again)).toBe("try_again");
      }),
    );
    expect(matchRecord(record({ failed: true }), retry({ carriedVersion: 3 }))).toBe("replay");
  });

  it("[IDEMPOTENCY-SAME-SUBMIT] is refused for anybody else, unless they hold the original token or the current one", () => {
    const stranger = { principal: "actor:agent:other" };
    expect(matchRecord(record(), retry({ ...stranger, carriedVersion: 4, currentVersion: 5 }))).toBe("foreign");
    expect(matchRecord(record(), retry({ ...stranger, carriedVersion: 5 }))).toBe("replay");
    const guest = { principal: "handoff:hof_1" };
    expect(matchRecord(record(), retry({ ...guest, carriedVersion: 4 }))).toBe("foreign");
  });

  it("[IDEMPOTENCY-SAME-SUBMIT] is a conflict for another submission", () => {
    expect(matchRecord(record(), retry({ carriedVersion: 3, submissionId: "sub_2" }))).toBe("conflict");
  });
});

it("[IDEMPOTENCY-SAME-SUBMIT] a setFields is the same by its fields: a newer token alone does not make it a replay", () => {
  const { ref } = record();
  const set = record({ ref: { ...ref, operation: "setFields" }, fingerprint: "f".repeat(64) });
  expect(matchRecord(set, retry({ carriedVersion: 4 }))).toBe("conflict");
  expect(matchRecord(set, retry({ carriedVersion: 4, fingerprint: "f".repeat(64) }))).toBe("replay");
});

it("[IDEMPOTENCY-SAME-SUBMIT] the last write is the latest version that set or removed a value, or rejected the submission", () => {
  const attribution = { paths: { a: 2, b: 5 }, removed: { c: 4 }, writes: {} };
  const rejection = { gate: "g", reasons: [], by: { kind: "human" as const, id: "eve" }, at: 0 };
  expect(writtenVersion({ attribution, rejections: [] })).toBe(5);
  expect(writtenVersion({ attribution, rejections: [{ ...rejection, version: 7 }] })).toBe(7);
  expect(writtenVersion({ attribution: { paths: {}, removed: { c: 4 }, writes: {} }, rejections: [] })).toBe(4);
  expect(writtenVersion({ attribution: { paths: {}, removed: {}, writes: {} }, rejections: [] })).toBe(0);
});
