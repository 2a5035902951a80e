import { FormBridgeError } from "@formbridge/client";
import type { ReactElement } from "react";
import { type AnyProblem, anyProblemOf, RETRIED } from "../shared/any-problem.ts";
import type { Reader } from "./language.ts";

/** Everything that can go wrong with a review link. For each, the texts have a title and what to do. */
export type Problem = AnyProblem | "spent" | "decided" | "expired" | "finished" | "cancelled";

const OVER: Record<string, Problem> = {
  link_spent: "spent",
  review_decided: "decided",
  ttl_elapsed: "expired",
  finalized: "finished",
};

/** What a refusal means to a reviewer. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof FormBridgeError)) return "other";
  switch (error.type) {
    case "token_expired":
      return OVER[error.detail?.reason ?? ""] ?? "decided";
    case "conflict":
    case "token_conflict":
      return "decided";
    case "expired":
    case "cancelled":
      return "cancelled";
    default:
      return anyProblemOf(error.type);
  }
}

interface ProblemProps {
  problem: Problem;
  reader: Reader;
  onRetry(): void;
}

export function ProblemView({ problem, reader: { t }, onRetry }: ProblemProps): ReactElement {
  return (
    <section className="pg-card pg-alone" role="alert">
      <h1>{t(`problem.${problem}.title`)}</h1>
      <p>{t(`problem.${problem}.text`)}</p>
      {RETRIED.includes(problem) && (
        <div className="pg-actions">
          <button type="button" className="fb-button fb-primary" onClick={onRetry}>
            {t("problem.tryAgain")}
          </button>
        </div>
      )}
    </section>
  );
}
