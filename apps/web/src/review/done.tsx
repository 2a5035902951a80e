import type { ReviewResponse } from "@formbridge/contract";
import { type ReactElement, useEffect, useRef } from "react";
import type { Reader } from "./language.ts";
import type { Reviewable } from "./source.ts";

/** After the decision: what happens next. */
export function Done({
  seen,
  answer,
  reader,
}: {
  seen: Reviewable;
  answer: ReviewResponse;
  reader: Reader;
}): ReactElement {
  const { t } = reader;
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  const isRejected = answer.decision === "rejected";
  return (
    <section className="pg-card pg-alone">
      <h1 ref={head} tabIndex={-1}>
        {t(isRejected ? "done.rejected" : "done.approved")}
      </h1>
      <p role="status">{isRejected ? t("done.rejectedText") : onward(seen, answer, t)}</p>
    </section>
  );
}

function onward({ record }: Reviewable, { state }: ReviewResponse, t: Reader["t"]): string {
  const { approvals = [], requiredApprovals: required = 1 } = record.reviewState ?? {};
  const count = approvals.length + 1;
  if (state === "needs_review") return count < required ? t("done.more", { count, required }) : t("done.next");
  return t(state === "finalized" ? "done.finalized" : "done.delivering");
}
