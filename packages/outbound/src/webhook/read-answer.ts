import type { Receipt } from "@formbridge/core";
import { ACCEPTED } from "../failure.ts";
import type { Answer } from "./post.ts";

const GONE = 410;
/** The statuses whose Retry-After says when to retry; with a redirect it means something else. */
const BUSY = [429, 503];
const MAX_WAIT_MS = 86_400_000;

export function readAnswer(answer: Answer, now: number): Receipt {
  const { status, text = "" } = answer;
  return { ...verdictOn(answer, now), status, ...(text !== "" && { answer: text }) };
}

function verdictOn(answer: Answer, now: number): Receipt {
  const { status } = answer;
  if (status >= 200 && status < 300) return ACCEPTED;
  if (status === GONE) {
    return { kind: "failed", final: true, error: `The webhook answered ${GONE}: it wants no more deliveries.` };
  }
  if (status >= 300 && status < 400) {
    const advice = "Redirects are not followed: the destination must be the URL that it leads to";
    return { kind: "failed", error: `The webhook answered ${status}, a redirect. ${advice}.` };
  }
  const retryAfterMs = BUSY.includes(status) ? waitOf(answer.retryAfter, now) : undefined;
  return {
    kind: "failed",
    error: `The webhook answered ${status}.`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Seconds or a date; at most a day. Anything else is ignored. */
function waitOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const isSeconds = /^\s*\d+\s*$/.test(text);
  // `Date.parse` accepts ambiguous dates without letters, which aren't HTTP dates.
  const wait = isSeconds ? Number(text) * 1000 : /[a-z]/i.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_WAIT_MS);
}
