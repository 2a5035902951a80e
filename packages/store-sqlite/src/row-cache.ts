import type { Change, Hash, Snapshot } from "@formbridge/core";

const MAX_ROWS = 4_096;

interface Entry {
  snapshot: Snapshot;
  /** Of the current token, when it was issued by this process. */
  token: Hash | undefined;
}

/**
 * The rows that were written or read last, as they are in memory: who works on a submission comes back within seconds, and its
 * row need not be looked up and parsed again. Whatever is decided on such a row is committed only on its revision, which the
 * commit reads from the database.
 */
export interface RowCache {
  byId(submissionId: string): Snapshot | undefined;
  /** Only by the current token: a stale one is looked up. */
  byToken(token: Hash): Snapshot | undefined;
  read(snapshot: Snapshot): void;
  /** A change was committed: its row is the current one. */
  committed(change: Change): void;
  forget(submissionId: string): void;
}

export function createRowCache(foreignWrites: () => boolean): RowCache {
  const rows = new Map<string, Entry>();
  const tokens = new Map<Hash, string>();

  function drop(submissionId: string): void {
    const token = rows.get(submissionId)?.token;
    if (token !== undefined) tokens.delete(token);
    rows.delete(submissionId);
  }

  function put(snapshot: Snapshot, token: Hash | undefined): void {
    const { submissionId } = snapshot.submission;
    drop(submissionId);
    rows.set(submissionId, { snapshot, token });
    if (token !== undefined) tokens.set(token, submissionId);
    const oldest = rows.size > MAX_ROWS ? rows.keys().next() : undefined;
    if (oldest?.done === false) drop(oldest.value);
  }

  function forgetForeign(): void {
    if (!foreignWrites()) return;
    rows.clear();
    tokens.clear();
  }

  function byId(submissionId: string): Snapshot | undefined {
    forgetForeign();
    return rows.get(submissionId)?.snapshot;
  }

  return {
    byId,
    byToken(token) {
      const submissionId = tokens.get(token);
      return submissionId === undefined ? undefined : byId(submissionId);
    },
    read: (snapshot) => put(snapshot, undefined),
    forget: drop,
    committed({ row, token, erase }) {
      const { submissionId } = row.submission;
      if (erase === true) {
        drop(submissionId);
        return;
      }
      const known = rows.get(submissionId);
      const sealedToken = token?.sealed ?? known?.snapshot.sealedToken;
      if (sealedToken === undefined) drop(submissionId);
      else put({ ...row, sealedToken }, token?.hash ?? known?.token);
    },
  };
}
