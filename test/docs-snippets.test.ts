/**
 * Runs what the documentation shows.
 *
 * - `<!-- setup -->` heads a shell block that runs before the server of its page starts; what it exports is in the server's environment.
 * - `<!-- tested -->` heads a shell block. The blocks of a page run in order, in one shell, against a server of their own.
 * - `<!-- shows -->` heads what the block before it prints: one line of JSON each, with at least what is shown, or text.
 *   `…` stands for anything.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { pages, ROOT, read } from "./support/pages.ts";

interface Block {
  shell: string;
  shows: { kind: string; text: string }[];
}

const FENCE = /<!-- (tested|shows) -->\n```(\w+)\n([\s\S]*?)```/g;

function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  for (const [, mark, kind = "", text = ""] of read(page).matchAll(FENCE)) {
    if (mark === "tested") blocks.push({ shell: text, shows: [] });
    else blocks.at(-1)?.shows.push({ kind, text });
  }
  return blocks;
}

const pattern = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("[\\s\\S]*")}$`,
  );

/** What a page shows, as a matcher: objects may have more members, lists are complete, and `…` matches any text. */
function matcher(shown: unknown): unknown {
  if (typeof shown === "string") return shown.includes("…") ? expect.stringMatching(pattern(shown)) : shown;
  if (typeof shown !== "object" || shown === null) return shown;
  if (Array.isArray(shown)) return shown.map(matcher);
  return expect.objectContaining(
    Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, matcher(value)])),
  );
}

function expectShown(output: string, { shows }: Block): void {
  const lines = output.split(/\n|(?<=\})(?=\{"ok")/).filter((line) => line.trim() !== "");
  for (const [index, { kind, text }] of shows.entries()) {
    if (kind === "text") expect(output.trim()).toMatch(pattern(text.trim()));
    else expect(JSON.parse(lines[index] ?? "null")).toEqual(matcher(JSON.parse(text)));
  }
}

interface Running {
  process: ChildProcess;
  url: string;
  key: string;
  printed: string[];
}

/** The environment without settings that may exist for one's own server. */
const plainEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(FORMBRIDGE_|PORT$|DATABASE_URL$|REDIS_URL$)/.test(name)),
);

/** A folder with what a page's blocks expect in the repository. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-docs-"));
  symlinkSync(join(ROOT, "examples"), join(folder, "examples"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

const shellEnv = (folder: string): Record<string, string | undefined> => ({
  ...plainEnv,
  FORMBRIDGE_DATA: join(folder, ".formbridge"),
  PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}`,
});

/** Without npx, which would take most of the time and does the same here. */
const local = (shell: string): string => shell.replaceAll(/\bnpx /g, "");

/** Runs what a page does before the start, and returns the settings that it exports. */
async function setUp(page: string, folder: string): Promise<Record<string, string>> {
  const shell = /<!-- setup -->\n```sh\n([\s\S]*?)```/.exec(read(page))?.[1];
  if (shell === undefined) return {};
  const script = `set -euo pipefail\n${local(shell)}\nenv`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: folder, env: shellEnv(folder) });
  return Object.fromEntries([...stdout.matchAll(/^(FORMBRIDGE_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}

/** The server as `npm start` runs it, on a free port. Resolves when it has printed the line to try. */
function startServer(folder: string, settings: Record<string, string>): Promise<Running> {
  const env = {
    ...plainEnv,
    ...settings,
    FORMBRIDGE_PORT: "0",
    FORMBRIDGE_DATA: join(folder, ".formbridge"),
    FORMBRIDGE_LOG_LEVEL: "silent",
  };
  const child = spawn(join(ROOT, "node_modules/.bin/node"), ["apps/server/bin/formbridge.mjs", "serve"], {
    cwd: ROOT,
    env,
  });
  const printed: string[] = [];
  return new Promise((resolve, reject) => {
    child.stderr.on("data", (text) => printed.push(String(text)));
    child.on("exit", () => reject(new Error(printed.join("\n"))));
    createInterface(child.stdout).on("line", (line) => {
      printed.push(line);
      if (!line.trimStart().startsWith("curl")) return;
      const said = printed.join("\n");
      const url = /listening on (\S+)/.exec(said)?.[1] ?? "";
      const key = /Admin key, shown only this once: (\S+)/.exec(said)?.[1] ?? "";
      resolve({ process: child, url, key, printed });
    });
  });
}

const stop = ({ process: child }: Running): Promise<unknown> =>
  new Promise((resolve) => {
    child.on("exit", resolve);
    child.kill("SIGTERM");
  });

const DOCUMENTED_URL = "http://127.0.0.1:3000";

/** Runs all blocks in one shell that stops at the first failure, with the output of each in its own file. */
async function runBlocks(
  blocks: Block[],
  server: Running,
  { folder, settings }: { folder: string; settings: Record<string, string> },
): Promise<string[]> {
  const steps = blocks.map(({ shell }, index) => `{\n${shell}\n} > "$OUT/${index}"`);
  const script = `set -euo pipefail\n${steps.join("\n")}\n`;
  const out = join(folder, "out");
  mkdirSync(out);
  const env = { ...shellEnv(folder), ...settings, OUT: out, KEY: server.key };
  await promisify(execFile)("bash", ["-c", local(script).replaceAll(DOCUMENTED_URL, server.url)], { cwd: folder, env });
  return blocks.map((_, index) => readFileSync(join(out, String(index)), "utf8"));
}

describe("snippets", () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const tested = pages.filter((page) => blocksOf(page).length > 0);

  test("the README and the first walk are among those that run", () => {
    expect(tested).toEqual(expect.arrayContaining(["README.md", "docs/get-started.md"]));
  });

  test.each(tested)("the shell blocks of %s work, and print what is shown", async (page) => {
    const folder = makeFolder();
    folders.push(folder);
    const settings = await setUp(page, folder);
    const server = await startServer(folder, settings);
    try {
      const blocks = blocksOf(page);
      const outputs = await runBlocks(blocks, server, { folder, settings });
      for (const [index, block] of blocks.entries()) expectShown(outputs[index] ?? "", block);
      const printed = server.printed.at(-1)?.trim().replaceAll(server.url, DOCUMENTED_URL) ?? "nothing";
      if (page === "README.md") expect(read(page)).toContain(printed);
    } finally {
      await stop(server);
    }
  });

  test("a snippet that fails, or shows something else, is noticed", async () => {
    const block = (text: string): Block => ({ shell: "", shows: [{ kind: "json", text }] });
    expect(() => expectShown('{"ok":true,"version":2}', block('{ "version": 1 }'))).toThrow();
    expect(() => expectShown('{"id":"sub_1"}', block('{ "id": "rtok_…" }'))).toThrow();
    expectShown('{"ok":true,"id":"sub_1"}', block('{ "id": "sub_…" }'));
    const folder = makeFolder();
    folders.push(folder);
    const nobody = { url: "http://127.0.0.1:9", key: "", printed: [] } as unknown as Running;
    await expect(runBlocks([{ shell: "false", shows: [] }], nobody, { folder, settings: {} })).rejects.toThrow();
  });
});
