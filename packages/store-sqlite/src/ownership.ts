import Sqlite from "better-sqlite3";

/** This process serves the file; no other may until the claim is released or the process ends. */
export interface Ownership {
  release(): void;
}

const BUSY = "SQLITE_BUSY";

/**
 * Claims a database file for the one process that serves it; undefined if it is already claimed. Commands that
 * only read, or write a row, need no claim.
 *
 * The claim is an exclusive lock on an empty database beside the file. The operating system drops the lock with the process, so a
 * crash leaves nothing behind that would have to be cleaned up.
 */
export function claimFile(file: string): Ownership | undefined {
  const db = new Sqlite(`${file}.owner`, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (error instanceof Sqlite.SqliteError && error.code === BUSY) return undefined;
    throw error;
  }
  return { release: () => void db.close() };
}
