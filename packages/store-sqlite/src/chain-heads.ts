import { type ChainHead, EMPTY_HEAD } from "@formbridge/core";

/** A stream that has not begun has no hash. */
export const headColumns = ({ seq, hash }: ChainHead): [seq: number, hash: string | null] => [
  seq,
  seq === 0 ? null : hash,
];

/** `hash` as SQLite's `hex` spells it. */
export const headOf = (seq: number, hash: string): ChainHead =>
  seq === 0 ? EMPTY_HEAD : { seq, hash: hash.toLowerCase() };
