import type { Readable } from "node:stream";

/** `found` says what, in a few words. */
export type ScanVerdict = { clean: true } | { clean: false; found: string };

/** No verdict could be had: an error, a time-out, or an answer that is none. */
export class ScanFailed extends Error {
  override name = "ScanFailed";
}

/** Looks into a file before it is kept. Not every deployment has one. */
export interface Scanner {
  /** Never takes longer than its time-out, and lets go of `bytes` whatever comes of it. Throws `ScanFailed`, never another error, when it can't tell. */
  scan(file: { bytes: Readable; sizeBytes: number }): Promise<ScanVerdict>;
}
