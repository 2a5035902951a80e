import { describe, expect, it } from "vitest";
import { given, type Scene } from "../../../test/given.ts";
import { decideCancel } from "./cancel.ts";
import {
  decideDeliveryAttempt,
  decideDeliveryFailure,
  decideDeliverySuccess,
  decideRetryDelivery,
  heldUntil,
} from "./deliver.ts";
import { decideSubmit } from "./submit.ts";

const submit: Parameters<Scene["when"]>[0] = (submission, context) => decideSubmit(submission, {}, context);

const destination = { kind: "webhook", url: "https://receiver.invalid/hook" } as const;
const submitted = (): Scene => given({ destination }, { name: "Ada" }).when(submit);
const lease = { by: "this process", until: 60_000 };
const result = { latencyMs: 3 };
type Decide = Parameters<Scene["when"]>[0];
const attempt: Decide = (submission) => decideDeliveryAttempt(submission, lease);
const succeed: Decide = (submission) => decideDeliverySuccess(submission, result);
const fail =
  (more: { final?: true } = {}): Decide =>
  (submission, { now }) =>
    decideDeliveryFailure(submission, { error: "502", chance: 0, result, ...more }, { now, retryPolicy: undefined });
const cancel: Parameters<Scene["when"]>[0] = (submission, context) => decideCancel(submission, {}, context);

describe("a delivery", () => {
  it("[TOKENS-ROTATE] rotates the token when it finalizes, not with an attempt or a failure", () => {
    const sent = submitted();
    expect(sent.submission).toMatchObject({
      state: "submitted",
      version: 2,
      delivery: { deliveryId: expect.stringMatching(/^dlv_/) },
    });
    const trying = sent.when(attempt);
    expect(trying.submission).toMatchObject({ version: 2, delivery: { attemptCount: 1, inFlight: true } });
    const failed = trying.when(fail({ final: true }));
    expect(failed.submission).toMatchObject({ state: "submitted", version: 2, delivery: { lastError: "502" } });
    const done = failed.when(attempt).when(succeed);
    expect(done.submission).toMatchObject({ state: "finalized", version: 3 });
    expect(done.events).toEqual(["delivery.succeeded", "submission.finalized"]);
  });

  it("[STATES-CANCEL-IN-FLIGHT] while an attempt is in flight a cancel is refused, and may be retried", () => {
    const trying = submitted().when(attempt);
    const refused = trying.when(cancel);
    expect(refused.decision.refusal).toMatchObject({ type: "conflict", detail: { retryable: true } });
    expect(refused.submission).toEqual(trying.submission);
    expect(trying.when(decideRetryDelivery).decision.refusal?.type).toBe("conflict");
    const failed = trying.when(fail());
    expect(failed.when(cancel).submission.state).toBe("cancelled");
  });

  it("[STATES-CANCEL-IN-FLIGHT] a cancelled submission is not delivered", () => {
    const cancelled = submitted().when(cancel);
    expect(cancelled.decision.dropJobs).toContain(`deliver:${cancelled.submission.submissionId}`);
    for (const decide of [attempt, succeed, decideRetryDelivery]) {
      const late = cancelled.when(decide);
      expect(late.decision.refusal).toBeDefined();
      expect(late.submission).toEqual(cancelled.submission);
    }
  });

  it("[AUDIT-F13] a restart starts over: all attempts, the first one due now, and the history shows who did it", () => {
    const over = submitted()
      .when(attempt)
      .when(fail({ final: true }));
    expect(over.submission.delivery).toMatchObject({ givenUp: true, tries: 0 });
    const restarted = over.when(decideRetryDelivery);
    expect(restarted.events).toEqual(["delivery.restarted"]);
    expect(restarted.submission.delivery?.givenUp).toBeUndefined();
    expect(restarted.submission.delivery?.nextAttemptAt).toBeDefined();
  });

  it("[AUDIT-F33] an attempt in flight keeps others from starting until its lease is over", () => {
    const trying = submitted().when(attempt).submission as Parameters<typeof heldUntil>[0];
    const other = { by: "another process", until: 90_000, isAlone: false };
    expect(heldUntil(trying, { ...other, now: 59_999 })).toBe(60_000);
    expect(heldUntil(trying, { ...other, now: 60_000 })).toBeUndefined();
    expect(heldUntil(trying, { ...other, by: lease.by, now: 1 })).toBe(60_000);
  });

  it("[AUDIT-F38] a process that is alone on its store takes over at once from one that has died", () => {
    const trying = submitted().when(attempt).submission as Parameters<typeof heldUntil>[0];
    const next = { by: "the next process", until: 90_000, now: 1, isAlone: true };
    expect(heldUntil(trying, next)).toBeUndefined();
    expect(heldUntil(trying, { ...next, by: lease.by })).toBe(60_000);
  });
});
