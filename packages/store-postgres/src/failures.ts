import { CallRefused, StoreDown, WriteHeld } from "@formbridge/core";
import { DatabaseError } from "pg";

const LOCK_TIMEOUT = "55P03";
const READ_ONLY = "25006";
/** Raised by `formbridge.undo`. */
export const UNDONE = "FB001";

/**
 * With these the server, or the connection to it, goes away: whether a commit in flight was applied is unknown.
 * Any other error from the server comes from a transaction that it has rolled back.
 */
const LEAVES_DOUBT = ["57P", "08", "58", "XX"];
/** Lock timeouts, deadlocks, bad values, constraints, and our own code: faults of the call, not of the database. */
const ABOUT_THE_CALL = [LOCK_TIMEOUT, "22", "23", "40", UNDONE];

const startsWith = (error: unknown, codes: readonly string[]): boolean =>
  error instanceof DatabaseError && codes.some((start) => error.code?.startsWith(start));

const isCertain = (error: unknown): boolean => error instanceof DatabaseError && !startsWith(error, LEAVES_DOUBT);

/**
 * The connection can serve the next call; any other is thrown away. So is one that is read-only: a new one may find the server that
 * takes writes now.
 */
export const isUsable = (error: unknown): boolean => isCertain(error) && !startsWith(error, [READ_ONLY]);

/** The server's error code, from our own error or the driver's. */
export function codeOf(error: unknown): string | undefined {
  const cause = error instanceof StoreDown ? error.cause : error;
  return cause instanceof DatabaseError ? cause.code : undefined;
}

/** The server reported that it rolled the statement back. */
export const wasUndone = (error: unknown): boolean =>
  error instanceof StoreDown && error.outcome === "not_applied" && codeOf(error) !== undefined;

/** A statement that may have changed something failed. */
export function failedWrite(error: unknown): StoreDown {
  if (startsWith(error, [LOCK_TIMEOUT])) return new WriteHeld("another write holds a lock that this one needs", error);
  if (startsWith(error, ABOUT_THE_CALL)) return new CallRefused("the database refused the statement", error);
  return new StoreDown(messageOf(error), isCertain(error) ? "not_applied" : "unknown", error);
}

/** Nothing was, or could have been, changed. */
export const failedBefore = (error: unknown): StoreDown =>
  startsWith(error, ABOUT_THE_CALL)
    ? new CallRefused("the database refused the statement", error)
    : new StoreDown(messageOf(error), "not_applied", error);

const messageOf = (error: unknown): string =>
  error instanceof DatabaseError ? "the database failed" : "the database can't be reached";

/** A readable reason. For a host with several addresses, Node's error has no message, only a list of errors. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
