import { ContractError } from "./error.ts";

/** Which list a token is for, and who is reading it. */
export interface PageScope {
  list: string;
  /** Absent for a public list. */
  holder?: { tenant: string; keyId: string };
}

/** How many items a list has, counted up to a limit. */
export interface Total {
  count: number;
  isEstimate: boolean;
}

/** A position in a list: its query, and the item after which the next page starts. */
export interface PagePosition {
  query: Record<string, string>;
  after: string;
  /** The number of items on earlier pages. */
  cursor: number;
  /** As counted for the first page. */
  total?: Total;
}

/** The same error for every invalid token: a forged one shouldn't learn what was wrong. */
export const refusedPage = (cause?: unknown): ContractError =>
  new ContractError(
    "bad_request",
    "pageToken: it has expired, was changed, or belongs to another list, query or caller. Start again without it.",
    { cause },
  );
