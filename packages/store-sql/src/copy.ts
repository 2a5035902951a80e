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
  /** Changes whenever anything in the store changes. */
  fingerprint: Hash;
  counts: CopyCounts;
  /** The last feed position ever assigned. Its event may be gone, but readers may have stopped there. */
  lastPosition: number;
  /** All rows of a kind except the first `skip`, always in the same order, in pages of bounded size. */
  pages<Kind extends CopyKind>(kind: Kind, skip: number): Iterable<CopiedRow<Kind>[]>;
  close(): void;
}

/** A store that a copy is written to. No server starts on it before `finish`. */
export interface CopyTarget {
  /**
   * Checks that the target is empty or contains part of a copy of this same source, and throws an error for the operator otherwise.
   * Returns `finished` if the copy was completed before.
   */
  begin(fingerprint: Hash): Promise<"finished" | "unfinished">;
  /** How many rows were written: an interrupted copy continues there. */
  counts(): Promise<CopyCounts>;
  /** All rows or none. */
  write<Kind extends CopyKind>(kind: Kind, rows: readonly CopiedRow<Kind>[]): Promise<void>;
  /** Marks the copy as complete, so that servers can use the target. New events get positions after `lastPosition`. */
  finish(lastPosition: number): Promise<void>;
  close(): Promise<void>;
}
