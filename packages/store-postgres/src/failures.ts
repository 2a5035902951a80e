import { CallRefused, StoreDown } from "@formbridge/core";
import { DatabaseError } from "pg";

/**
 * With these the server, or the connection to it, goes away: whether a commit that was under way is there, nobody was told.
 * Any other error from the server comes from a transaction that it has undone.
 */
const LEAVES_DOUBT = ["57P", "08", "58", "XX"];

const isCertain = (error: unknown): boolean =>
  error instanceof DatabaseError && !LEAVES_DOUBT.some((start) => error.code?.startsWith(start));

/** The driver refused to send on a connection that it knew to be lost. */
const wasNeverSent = (error: unknown): boolean => error instanceof Error && /not queryable/.test(error.message);

/** The connection can serve the next call; any other is thrown away. */
export const isUsable = isCertain;

export const LOCK_TIMEOUT = "55P03";

function told(error: unknown): string {
  if (!(error instanceof DatabaseError)) return "the database can't be reached";
  return error.code === LOCK_TIMEOUT ? "another write holds what this one needs" : "the database can't do that";
}

/** Locks that others hold, deadlocks, values and constraints, and our own: faults of the call, not of the database. */
const ABOUT_THE_CALL = [LOCK_TIMEOUT, "22", "23", "40", "FB"];

const isAboutTheCall = (error: unknown): boolean =>
  error instanceof DatabaseError && ABOUT_THE_CALL.some((start) => error.code?.startsWith(start));

/** A statement that may have changed something failed. */
export function failedWrite(error: unknown): StoreDown {
  if (isAboutTheCall(error)) return new CallRefused(told(error), error);
  const outcome = isCertain(error) || wasNeverSent(error) ? "not_applied" : "unknown";
  return new StoreDown(told(error), outcome, error);
}

/** Nothing was, or could have been, changed. */
export const failedBefore = (error: unknown): StoreDown =>
  isAboutTheCall(error) ? new CallRefused(told(error), error) : new StoreDown(told(error), "not_applied", error);

/** In words. A host with several addresses fails with several errors and no words of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
