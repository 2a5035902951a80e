import type { Actor } from "@formbridge/contract";
import { expect, it } from "vitest";
import { given, type Scene } from "../../../test/given.ts";
import { decideReview } from "./review.ts";
import { decideSubmit } from "./submit.ts";

const submit: Parameters<Scene["when"]>[0] = (submission, context) => decideSubmit(submission, {}, context);

const approvalGates = [{ name: "check", reviewers: { roles: ["reviewer"] } }];
const rita: Actor = { kind: "human", id: "rita" };
const approve: Parameters<Scene["when"]>[0] = (submission, context) =>
  decideReview(submission, { decision: "approved", roles: ["reviewer"] }, context);

it("[NAMES-DECLARED-REVIEW] a declared actor can't approve", () => {
  const waiting = given({ approvalGates }, { name: "Ada" }).when(submit);
  expect(waiting.submission.state).toBe("needs_review");
  const refused = waiting.when(approve, { ...rita, declared: true });
  expect(refused.decision.refusal?.type).toBe("forbidden");
  expect(refused.submission).toEqual(waiting.submission);
  expect(waiting.when(approve, rita).submission.state).toBe("finalized");
});
