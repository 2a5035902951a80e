import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { ScanFailed, type ScanVerdict } from "@formbridge/core";
import { foundWords } from "./words.ts";

const MAX_OUTPUT = 4096;
const CLEAN = 0;
const FOUND = 1;

/** Sends the file to stdin; exit code 0 means clean and 1 infected, as with ClamAV. Anything else is no verdict. */
export async function scanByCommand(
  bytes: Readable,
  { argv, timeoutMs }: { argv: readonly string[]; timeoutMs: number },
): Promise<ScanVerdict> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    // Its child processes may live on with the pipes open, and would keep us waiting.
    child.stdin.destroy();
    child.stdout.destroy();
  }, timeoutMs);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", (cause) => reject(new ScanFailed("the scan command can't be started", { cause })));
    child.once("close", (code) => resolve(code));
  });
  // A scanner may decide before the end of the file; not reading the rest is no error.
  child.stdin.on("error", () => {});
  const broken = new Promise<never>((_, reject) => {
    bytes.once("error", (cause) => {
      child.kill("SIGKILL");
      reject(new ScanFailed("the file can't be read", { cause }));
    });
  });
  bytes.pipe(child.stdin);
  let output = "";
  child.stdout.on("data", (piece: Buffer) => {
    output = (output + piece.toString("utf8")).slice(0, MAX_OUTPUT);
  });
  try {
    const code = await Promise.race([ended, broken]);
    if (code === CLEAN) return { clean: true };
    if (code === FOUND) return { clean: false, found: foundWords(output) };
    throw new ScanFailed(
      code === null ? "the scan was ended before it gave a verdict" : `the scan command exited with ${code}`,
    );
  } finally {
    clearTimeout(timer);
    bytes.destroy();
  }
}
