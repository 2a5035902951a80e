import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Loose } from "./harness.ts";
import type { Era } from "./mcp-clients.ts";

const require = createRequire(import.meta.url);
const PACKAGE = require.resolve("@modelcontextprotocol/inspector/package.json");
const CLI = join(dirname(PACKAGE), "clients/cli/build/index.js");

export interface Inspection {
  code: number;
  /** Its parsed output. */
  result: Loose;
  errors: string;
}

/**
 * The official inspector's command line, with its own home folder. The target is a URL, or a command with its
 * arguments.
 */
export async function inspect(target: readonly string[], era: Era, options: readonly string[]): Promise<Inspection> {
  const home = mkdtempSync(join(tmpdir(), "formbridge-inspector-"));
  const args = [CLI, ...target, "--protocol-era", era === "new" ? "modern" : "legacy", "--format", "json", ...options];
  try {
    return await new Promise((resolve, reject) => {
      const env = { PATH: process.env.PATH, HOME: home };
      execFile(process.execPath, args, { env, cwd: home, maxBuffer: 2 ** 28 }, (error, output, errors) => {
        if (error !== null && typeof error.code !== "number") reject(error);
        else resolve({ code: Number(error?.code ?? 0), result: parsed(output), errors });
      });
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function parsed(output: string): Loose {
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}
