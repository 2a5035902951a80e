import { CallRefused, StoreDown } from "@formbridge/core";
import { SqliteError } from "better-sqlite3";
import type { Failure } from "./writer/failures.ts";

/** A failure of whoever writes, as the port tells it. */
export function storeDownOf({ outcome, isRefusal, message, code }: Failure): StoreDown {
  const cause = code === undefined ? new Error(message) : new SqliteError(message, code);
  const told = "the database can't take the change";
  return isRefusal ? new CallRefused(told, cause) : new StoreDown(told, outcome, cause);
}

export const downOf = (error: unknown): StoreDown =>
  error instanceof StoreDown ? error : new StoreDown("the database can't answer", "not_applied", error);

/** Runs a synchronous query as a promise, with the database's errors turned into the port's. */
export async function answer<T>(query: () => T): Promise<T> {
  try {
    return query();
  } catch (error) {
    throw downOf(error);
  }
}
