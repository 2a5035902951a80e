import type { ClientErrorType } from "@formbridge/client";

/** What can go wrong with any link. */
export type AnyProblem = "mistyped" | "notYours" | "tooMany" | "offline" | "other";

/** Problems that may be over at the next try. */
export const RETRIED: readonly string[] = ["tooMany", "offline", "other"] satisfies AnyProblem[];

export function anyProblemOf(type: ClientErrorType): AnyProblem {
  switch (type) {
    case "token_invalid":
    case "not_found":
    case "bad_request":
      return "mistyped";
    case "forbidden":
    case "unauthorized":
      return "notYours";
    case "rate_limited":
      return "tooMany";
    case "network_error":
    case "timeout":
      return "offline";
    default:
      return "other";
  }
}
