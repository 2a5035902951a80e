import type { Readable } from "node:stream";

/** `found` names the threat. */
export type ScanVerdict = { clean: true } | { clean: false; found: string };

/** No verdict: an error, a timeout or an invalid response. */
export class ScanFailed extends Error {
  override name = "ScanFailed";
}

/** Scans a file before it is accepted. Optional. */
export interface Scanner {
  /** Returns within its timeout and always destroys `bytes`. Throws only `ScanFailed`. */
  scan(file: { bytes: Readable; sizeBytes: number }): Promise<ScanVerdict>;
}
