import type { FormBridgeError } from "@formbridge/client";
import { type ReactElement, useEffect, useRef, useState } from "react";
import { type AnyProblem, anyProblemOf, RETRIED } from "../shared/any-problem.ts";
import { copyText } from "../shared/copy.ts";
import type { Reader } from "../shared/language.ts";
import { useLive } from "../shared/live.tsx";
import { usePlace } from "./place.ts";

/** Everything that can go wrong with a link. For each, the texts have a title and what to do. */
export type Problem = AnyProblem | "expired" | "spent" | "rotated" | "revoked" | "finished" | "cancelled";

/** What a refusal means to a person. */
export function problemOf({ type, detail }: FormBridgeError): Problem {
  switch (type) {
    case "token_expired":
      if (detail?.reason === "finalized") return "finished";
      if (detail?.reason === "code_spent") return "spent";
      return detail?.reason === "ttl_elapsed" ? "expired" : "revoked";
    case "expired":
      return "expired";
    case "cancelled":
      return "cancelled";
    case "needs_approval":
    case "conflict":
    case "delivery_failed":
      return "finished";
    case "token_conflict":
      return "rotated";
    default:
      return anyProblemOf(type);
  }
}

/** The text that says what to do. Whatever ended a link, the person needs a new one. */
export const wayOn = (problem: Problem) => `problem.${problem === "spent" ? "expired" : problem}.text` as const;

interface ProblemProps {
  problem: Problem;
  reader: Reader;
  onRetry?: () => void;
  /** What was typed and could not be saved, in words. */
  unsaved?: string;
}

export function ProblemView({ problem, reader: { t }, onRetry, unsaved }: ProblemProps): ReactElement {
  const heading = useRef<HTMLHeadingElement>(null);
  const { isPage } = usePlace();
  const live = useLive();
  useEffect(() => {
    live.status("");
    live.news(t(`problem.${problem}.title`));
    // Somebody else's page keeps its focus.
    if (isPage) heading.current?.focus();
  }, [live, isPage, problem, t]);
  useRetryWhenOnline(problem === "offline" ? onRetry : undefined);
  return (
    <section className="pg-card pg-alone">
      <h1 ref={heading} tabIndex={-1}>
        {t(`problem.${problem}.title`)}
      </h1>
      <p>{t(wayOn(problem))}</p>
      {unsaved !== undefined && unsaved !== "" && <Unsaved text={unsaved} t={t} />}
      {onRetry !== undefined && RETRIED.includes(problem) && (
        <div className="pg-actions">
          <button type="button" className="fb-button fb-primary" onClick={onRetry}>
            {t("problem.tryAgain")}
          </button>
        </div>
      )}
    </section>
  );
}

const RETRY_MS = 5_000;

function useRetryWhenOnline(retry: (() => void) | undefined): void {
  useEffect(() => {
    if (retry === undefined) return undefined;
    const timer = setInterval(retry, RETRY_MS);
    window.addEventListener("online", retry);
    return () => {
      clearInterval(timer);
      window.removeEventListener("online", retry);
    };
  }, [retry]);
}

function Unsaved({ text, t }: { text: string; t: Reader["t"] }): ReactElement {
  const [isCopied, setCopied] = useState(false);
  const shown = useRef<HTMLPreElement>(null);
  /** Without a clipboard, the answers are selected: they can be copied by hand. */
  function copy(): void {
    if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
    void copyText(text).then(setCopied);
  }
  return (
    <div className="pg-notice">
      <p>{t("problem.unsaved")}</p>
      <pre ref={shown} className="pg-unsaved">
        {text}
      </pre>
      <button type="button" className="fb-button" onClick={copy}>
        {t(isCopied ? "page.copied" : "problem.copyAnswers")}
      </button>
    </div>
  );
}
