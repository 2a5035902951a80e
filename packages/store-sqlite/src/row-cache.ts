import type { Change, Snapshot } from "@formbridge/core";

const MAX_ROWS = 4_096;

/**
 * The rows that were written or read last, as they are in memory: who works on a submission comes back within seconds, and its
 * row need not be read and parsed again. Every hit is checked against the revision in the database, so a row that somebody
 * else has written since is never taken for the current one.
 */
export interface RowCache {
  get(submissionId: string, revision: number): Snapshot | undefined;
  put(snapshot: Snapshot): void;
  /** A change was committed: its row is the current one. */
  committed(change: Change): void;
}

export function createRowCache(): RowCache {
  const rows = new Map<string, Snapshot>();

  function put(snapshot: Snapshot): void {
    const { submissionId } = snapshot.submission;
    rows.delete(submissionId);
    rows.set(submissionId, snapshot);
    if (rows.size <= MAX_ROWS) return;
    const oldest = rows.keys().next();
    if (oldest.done !== true) rows.delete(oldest.value);
  }

  return {
    put,
    get(submissionId, revision) {
      const known = rows.get(submissionId);
      return known?.submission.revision === revision ? known : undefined;
    },
    committed({ row, token }) {
      const { submissionId } = row.submission;
      const sealedToken = token?.sealed ?? rows.get(submissionId)?.sealedToken;
      if (sealedToken === undefined) rows.delete(submissionId);
      else put({ ...row, sealedToken });
    },
  };
}
