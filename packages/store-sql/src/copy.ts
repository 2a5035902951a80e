import type { Hash } from "@formbridge/core";
import type { Row } from "./table.ts";
import { TABLES } from "./tables.ts";

export type CopyKind = keyof typeof TABLES;
export type CopiedRow<Kind extends CopyKind> = Row<(typeof TABLES)[Kind]>;
export type CopyCounts = Record<CopyKind, number>;

/** Everything that a store keeps, in the order in which it can be written. */
export const COPY_KINDS = Object.keys(TABLES) as CopyKind[];

/** A whole store at one moment, to be copied. Nobody else can write to it until it is closed. */
export interface CopySource {
  /** Another one whenever anything in the store is another. */
  fingerprint: Hash;
  counts: CopyCounts;
  /** The last place in the feed that was ever given away: its event may be gone, and readers stand there all the same. */
  lastPosition: number;
  /** All rows of a kind but the first `skip`, always in the same order, in pages of bounded size. */
  pages<Kind extends CopyKind>(kind: Kind, skip: number): Iterable<CopiedRow<Kind>[]>;
  close(): void;
}

/** A store that a copy is written to. It serves nobody before `finish`. */
export interface CopyTarget {
  /**
   * Makes sure that the target is empty, or holds a part of the copy of just this source. Throws, in words, when it holds anything
   * else. Answers `finished` when the copy was made before.
   */
  begin(fingerprint: Hash): Promise<"finished" | "unfinished">;
  /** How many rows there are: where a copy that was interrupted goes on. */
  counts(): Promise<CopyCounts>;
  /** All rows or none. */
  write<Kind extends CopyKind>(kind: Kind, rows: readonly CopiedRow<Kind>[]): Promise<void>;
  /** The copy is whole: from now on the target can be used. Its feed goes on behind `lastPosition`. */
  finish(lastPosition: number): Promise<void>;
  close(): Promise<void>;
}
