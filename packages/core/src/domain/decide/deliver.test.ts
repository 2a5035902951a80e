import { describe, expect, it } from "vitest";
import { given, type Scene } from "../../../test/given.ts";
import { decideCancel } from "./cancel.ts";
import { decideDeliveryAttempt, decideDeliveryFailure, decideDeliverySuccess, decideRetryDelivery } from "./deliver.ts";
import { decideSubmit } from "./submit.ts";

const submit: Parameters<Scene["when"]>[0] = (submission, context) => decideSubmit(submission, {}, context);

const destination = { kind: "webhook", url: "https://receiver.invalid/hook" } as const;
const submitted = (): Scene => given({ destination }, { name: "Ada" }).when(submit);
const cancel: Parameters<Scene["when"]>[0] = (submission, context) => decideCancel(submission, {}, context);

describe("a delivery", () => {
  it("[TOKENS-ROTATE] the one that finalizes rotates the token, an attempt and a failure do not", () => {
    const sent = submitted();
    expect(sent.submission).toMatchObject({
      state: "submitted",
      version: 2,
      delivery: { deliveryId: expect.stringMatching(/^dlv_/) },
    });
    const trying = sent.when(decideDeliveryAttempt);
    expect(trying.submission).toMatchObject({ version: 2, delivery: { attemptCount: 1, inFlight: true } });
    const failed = trying.when((submission, context) =>
      decideDeliveryFailure(submission, { error: "502", final: true, chance: 0 }, context),
    );
    expect(failed.submission).toMatchObject({ state: "submitted", version: 2, delivery: { lastError: "502" } });
    const done = failed.when(decideDeliveryAttempt).when(decideDeliverySuccess);
    expect(done.submission).toMatchObject({ state: "finalized", version: 3 });
    expect(done.events).toEqual(["delivery.succeeded", "submission.finalized"]);
  });

  it("[STATES-CANCEL-IN-FLIGHT] while an attempt is under way a cancel is refused, and may be tried again", () => {
    const trying = submitted().when(decideDeliveryAttempt);
    const refused = trying.when(cancel);
    expect(refused.decision.refusal).toMatchObject({ type: "conflict", detail: { retryable: true } });
    expect(refused.submission).toEqual(trying.submission);
    expect(trying.when(decideRetryDelivery).decision.refusal?.type).toBe("conflict");
    const failed = trying.when((submission, context) =>
      decideDeliveryFailure(submission, { error: "502", chance: 0 }, context),
    );
    expect(failed.when(cancel).submission.state).toBe("cancelled");
  });

  it("[STATES-CANCEL-IN-FLIGHT] a cancelled submission is delivered no more", () => {
    const cancelled = submitted().when(cancel);
    expect(cancelled.decision.dropJobs).toContain(`deliver:${cancelled.submission.submissionId}`);
    for (const decide of [decideDeliveryAttempt, decideDeliverySuccess, decideRetryDelivery]) {
      const late = cancelled.when(decide);
      expect(late.decision.refusal).toBeDefined();
      expect(late.submission).toEqual(cancelled.submission);
    }
  });
});
