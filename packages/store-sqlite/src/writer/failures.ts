import { SqliteError } from "better-sqlite3";

/** Why something was not written, as data that crosses between threads. */
export interface Failure {
  kind: "failed";
  outcome: "not_applied" | "unknown";
  /** The database is up, and refused this one for what it is. */
  isRefusal: boolean;
  message: string;
  /** SQLite's, when it was SQLite that failed. */
  code?: string;
}

/** Codes of a COMMIT that failed before anything could have become durable. */
const NOTHING_WRITTEN = ["SQLITE_FULL", "SQLITE_BUSY", "SQLITE_READONLY", "SQLITE_IOERR_WRITE", "SQLITE_CONSTRAINT"];

function told(error: unknown): { message: string; code?: string } {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof SqliteError ? { message, code: error.code } : { message };
}

/** Only COMMIT makes a group durable, so what failed before it was not applied. */
export function failedBeforeCommit(error: unknown): Failure {
  const isRefusal = error instanceof SqliteError && error.code.startsWith("SQLITE_CONSTRAINT");
  return { kind: "failed", outcome: "not_applied", isRefusal, ...told(error) };
}

/** After a failed sync nobody knows what the disk kept: the write may be there after a restart. */
export function failedCommit(error: unknown): Failure {
  const code = error instanceof SqliteError ? error.code : "";
  const isSafe = NOTHING_WRITTEN.some((prefix) => code.startsWith(prefix));
  return { kind: "failed", outcome: isSafe ? "not_applied" : "unknown", isRefusal: false, ...told(error) };
}
