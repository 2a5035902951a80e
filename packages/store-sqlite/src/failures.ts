import { CallRefused, StoreDown } from "@formbridge/core";
import { SqliteError } from "better-sqlite3";

/** Codes of a COMMIT that failed before anything could have become durable. */
const NOTHING_WRITTEN = ["SQLITE_FULL", "SQLITE_BUSY", "SQLITE_READONLY", "SQLITE_IOERR_WRITE", "SQLITE_CONSTRAINT"];

const codeOf = (error: unknown): string => (error instanceof SqliteError ? error.code : "");

export const isBusy = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_BUSY");

const REFUSED = "the database failed before the commit";

/** Only COMMIT makes a group durable, so what failed before it was not applied. */
export function failedBeforeCommit(error: unknown): StoreDown {
  if (error instanceof StoreDown) return error;
  return codeOf(error).startsWith("SQLITE_CONSTRAINT")
    ? new CallRefused(REFUSED, error)
    : new StoreDown(REFUSED, "not_applied", error);
}

/** After a failed sync the outcome is unknown: the write may be there after a restart. */
export function failedCommit(error: unknown): StoreDown {
  const isSafe = NOTHING_WRITTEN.some((prefix) => codeOf(error).startsWith(prefix));
  return new StoreDown(REFUSED, isSafe ? "not_applied" : "unknown", error);
}

/** Runs a synchronous query as a promise, with the database's errors turned into the port's. */
export async function answer<T>(query: () => T): Promise<T> {
  try {
    return query();
  } catch (error) {
    throw error instanceof StoreDown ? error : new StoreDown("the database failed to read", "not_applied", error);
  }
}
