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
  /** A change of this submission is being written: until it is settled, only the database knows which row is the current one. */
  sent(submissionId: string): void;
  /** Every change that was sent is settled: committed, and so its row is the current one, or not. */
  settled(change: Change, isCommitted: boolean): void;
  forget(submissionId: string): void;
  forgetAll(): void;
}

export function createRowCache(lookForForeignWrites: () => void): RowCache {
  const rows = new Map<string, Entry>();
  const tokens = new Map<Hash, string>();
  const underWay = new Map<string, number>();

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

  function byId(submissionId: string): Snapshot | undefined {
    lookForForeignWrites();
    return underWay.has(submissionId) ? undefined : rows.get(submissionId)?.snapshot;
  }

  /** Answers whether another change of the same submission is still under way. */
  function arrived(submissionId: string): boolean {
    const left = (underWay.get(submissionId) ?? 1) - 1;
    if (left > 0) underWay.set(submissionId, left);
    else underWay.delete(submissionId);
    return left > 0;
  }

  function committed({ row, token, erase }: Change): void {
    const { submissionId } = row.submission;
    if (erase === true) {
      drop(submissionId);
      return;
    }
    const known = rows.get(submissionId);
    const sealedToken = token?.sealed ?? known?.snapshot.sealedToken;
    if (sealedToken === undefined) drop(submissionId);
    else put({ ...row, sealedToken }, token?.hash ?? known?.token);
  }

  return {
    byId,
    byToken(token) {
      const submissionId = tokens.get(token);
      return submissionId === undefined ? undefined : byId(submissionId);
    },
    read(snapshot) {
      if (!underWay.has(snapshot.submission.submissionId)) put(snapshot, undefined);
    },
    sent(submissionId) {
      underWay.set(submissionId, (underWay.get(submissionId) ?? 0) + 1);
    },
    settled(change, isCommitted) {
      const { submissionId } = change.row.submission;
      if (arrived(submissionId) || !isCommitted) drop(submissionId);
      else committed(change);
    },
    forget: drop,
    forgetAll() {
      rows.clear();
      tokens.clear();
    },
  };
}
