import type { Scanner } from "@formbridge/core";
import { scanByCommand } from "./by-command.ts";
import { scanByUrl } from "./by-url.ts";

export type ScanOptions =
  | { kind: "command"; argv: readonly string[]; timeoutMs: number }
  | { kind: "url"; url: string; timeoutMs: number };

/** Sends files to the operator's scanner. Anything but a clear verdict counts as none. */
export function createScanner(options: ScanOptions): Scanner {
  return {
    scan: async ({ bytes, sizeBytes }) =>
      options.kind === "command" ? await scanByCommand(bytes, options) : await scanByUrl({ bytes, sizeBytes }, options),
  };
}
