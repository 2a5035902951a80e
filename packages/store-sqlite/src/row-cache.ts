import type { Change, Hash, Snapshot } from "@formbridge/core";
import { rowOf } from "./submission-rows.ts";

/** Two generations of so many rows are remembered. */
const MAX_GENERATION = 2_048;

/** A row as the database holds it. */
export interface RowTexts {
  sealedToken: string;
  sealedFields: string | null;
  doc: string;
}

interface Entry extends RowTexts {
  /** Made when it is asked for. */
  snapshot?: Snapshot;
  /** Of the current token, when it was issued by this process. */
  token?: Hash | undefined;
}

/**
 * The rows that were written or read last: who works on a submission comes back within seconds, and its row need not be looked
 * up again. Whatever is decided on such a row is committed only on its revision, which the commit reads from the database.
 *
 * What was written is kept as its text until somebody asks for it. Most rows are dropped before, and a thousand small objects
 * that live for a while cost the collector more than to parse the few that come back.
 */
export interface RowCache {
  byId(submissionId: string): Snapshot | undefined;
  /** Only by the current token: a stale one is looked up. */
  byToken(token: Hash): Snapshot | undefined;
  /** Was just read from the database. */
  read(texts: RowTexts): Snapshot;
  /** A change of this submission is being written: until it is settled, only the database knows which row is the current one. */
  sent(submissionId: string): void;
  /** Every change that was sent is settled: committed, and so the row that it wrote is the current one, or not. */
  settled(change: Change, committedDoc: string | undefined): void;
  forget(submissionId: string): void;
  forgetAll(): void;
}

interface Generation {
  rows: Map<string, Entry>;
  /** What was the current token of a row when it was written. */
  tokens: Map<Hash, string>;
}

const newGeneration = (): Generation => ({ rows: new Map(), tokens: new Map() });

export function createRowCache(lookForForeignWrites: () => void): RowCache {
  let young = newGeneration();
  let old = newGeneration();
  const underWay = new Map<string, number>();

  function drop(submissionId: string): void {
    young.rows.delete(submissionId);
    old.rows.delete(submissionId);
  }

  /** A whole generation is forgotten at once: to find and take out the oldest row with every new one costs more than the rest. */
  function put(submissionId: string, entry: Entry): void {
    if (young.rows.size >= MAX_GENERATION || young.tokens.size >= MAX_GENERATION) {
      old = young;
      young = newGeneration();
    }
    young.rows.set(submissionId, entry);
    if (entry.token !== undefined) young.tokens.set(entry.token, submissionId);
  }

  const find = (submissionId: string): Entry | undefined => young.rows.get(submissionId) ?? old.rows.get(submissionId);

  function believed(submissionId: string): Entry | undefined {
    lookForForeignWrites();
    return underWay.has(submissionId) ? undefined : find(submissionId);
  }

  function opened(entry: Entry | undefined): Snapshot | undefined {
    if (entry === undefined) return undefined;
    entry.snapshot ??= snapshotOf(entry);
    return entry.snapshot;
  }

  /** Answers whether another change of the same submission is still under way. */
  function arrived(submissionId: string): boolean {
    const left = (underWay.get(submissionId) ?? 1) - 1;
    if (left > 0) underWay.set(submissionId, left);
    else underWay.delete(submissionId);
    return left > 0;
  }

  function remember({ row, token, erase }: Change, doc: string): void {
    const { submissionId } = row.submission;
    const known = token === undefined ? find(submissionId) : undefined;
    const sealedToken = token?.sealed ?? known?.sealedToken;
    if (erase === true || sealedToken === undefined) drop(submissionId);
    else
      put(submissionId, {
        sealedToken,
        sealedFields: row.sealedFields ?? null,
        doc,
        token: token?.hash ?? known?.token,
      });
  }

  return {
    byId: (submissionId) => opened(believed(submissionId)),
    byToken(token) {
      const submissionId = young.tokens.get(token) ?? old.tokens.get(token);
      const entry = submissionId === undefined ? undefined : believed(submissionId);
      return entry?.token === token ? opened(entry) : undefined;
    },
    read(texts) {
      const snapshot = snapshotOf(texts);
      const { submissionId } = snapshot.submission;
      if (!underWay.has(submissionId)) put(submissionId, { ...texts, snapshot });
      return snapshot;
    },
    sent(submissionId) {
      underWay.set(submissionId, (underWay.get(submissionId) ?? 0) + 1);
    },
    settled(change, committedDoc) {
      const { submissionId } = change.row.submission;
      if (arrived(submissionId) || committedDoc === undefined) drop(submissionId);
      else remember(change, committedDoc);
    },
    forget: drop,
    forgetAll() {
      young = newGeneration();
      old = newGeneration();
    },
  };
}

export const snapshotOf = ({ doc, sealedFields, sealedToken }: RowTexts): Snapshot => ({
  ...rowOf(doc, sealedFields),
  sealedToken,
});
