/**
 * What the documentation says is held against the code.
 *
 * - `<!-- table: name -->` heads a table that is made from the code. `UPDATE_DOCS=1` writes it anew.
 * - `<!-- file: path -->` heads a code block that is a file of the repository.
 * - `<!-- setup -->` heads a shell block that runs before the server of its page starts; what it exports is in the server's environment.
 * - `<!-- tested -->` heads a shell block. The blocks of a page run in order, in one shell, against a server of their own.
 * - `<!-- shows -->` heads what the block before it prints: one line of JSON each, with at least what is shown, or text.
 *   `…` stands for anything.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { createProgram } from "../apps/server/src/cli/program.ts";
import { SETTINGS, type Setting } from "../apps/server/src/config/settings.ts";
import { firstProblem } from "../examples/verify-history.ts";
import { ERROR_TYPES, FIELD_ERROR_CODES, NEXT_ACTIONS } from "../packages/contract/src/errors.ts";
import { EVENT_TYPES, type IntakeEvent } from "../packages/contract/src/events.ts";
import { TRANSITIONS } from "../packages/core/src/domain/transitions.ts";
import { STATUS } from "../packages/http/src/error-map.ts";
import { ROUTES } from "../packages/http/src/routes.ts";
import { TOOLS } from "../packages/mcp/src/tools/table.ts";
import { minimalIntake, startTestServer } from "./support/harness.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...globSync("docs/**/*.md", { cwd: ROOT }).toSorted()];

const code = (text: string): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "\\<");
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

function commandRows(command = createProgram(), above: string[] = []): string[][] {
  return command.commands.flatMap((child) => {
    const names = [...above, child.name()];
    if (child.commands.length > 0) return commandRows(child, names);
    const takes = child.registeredArguments.map((argument) =>
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    );
    return [[code([...names, ...takes].join(" ")), cell(child.description())]];
  });
}

/** Every table that is made from the code, with the page that shows it. */
const TABLES: Record<string, { page: string; text: string }> = {
  settings: {
    page: "docs/reference/settings.md",
    text: table(
      ["variable", "default", "what it is"],
      Object.entries(SETTINGS as Record<string, Setting>).map(([name, { alias, fallback, help }]) => [
        [name, alias]
          .filter((known) => known !== undefined)
          .map(code)
          .join(", "),
        fallback === undefined ? "" : code(String(fallback)),
        cell(help),
      ]),
    ),
  },
  errors: {
    page: "docs/reference/errors.md",
    text: table(
      ["type", "status", "retryable", "means"],
      Object.entries(ERROR_TYPES).map(([type, { retryable, meaning }]) => [
        code(type),
        String(STATUS[type as keyof typeof STATUS]),
        retryable ? "yes" : "no",
        cell(meaning),
      ]),
    ),
  },
  events: {
    page: "docs/reference/events.md",
    text: table(
      ["type", "stream", "written when"],
      Object.entries(EVENT_TYPES).map(([type, { stream, when }]) => [code(type), stream, cell(when)]),
    ),
  },
  routes: {
    page: "docs/reference/http.md",
    text: table(
      ["method", "path", "operation", "opens with", "does"],
      ROUTES.map(({ method, path, id, opensWith, summary }) => [
        method,
        code(path.replace(/:([A-Za-z]+)/g, "{$1}")),
        code(id),
        opensWith,
        cell(summary),
      ]),
    ),
  },
  states: {
    page: "docs/concepts/states.md",
    text: table(
      ["from", "to"],
      Object.entries(TRANSITIONS).map(([from, to]) => [
        code(from),
        to.length === 0 ? "an end" : to.map(code).join(", "),
      ]),
    ),
  },
  tools: {
    page: "docs/reference/mcp.md",
    text: table(
      ["of an intake", "generic", "reads only", "destroys", "repeatable", "reaches out", "does"],
      TOOLS.map(({ suffix, generic, title, annotations }) => [
        suffix === undefined ? "" : code(`_${suffix}`),
        code(generic),
        ...[
          annotations.readOnlyHint,
          annotations.destructiveHint,
          annotations.idempotentHint,
          annotations.openWorldHint,
        ].map((holds) => (holds ? "yes" : "")),
        title,
      ]),
    ),
  },
  commands: { page: "docs/reference/cli.md", text: table(["command", "does"], commandRows()) },
};

describe("tables", () => {
  test.each(Object.entries(TABLES))("the table of %s says what the code says", (name, { page, text }) => {
    const shown = new RegExp(`(<!-- table: ${name} -->\\n)((?:\\n?\\|[^\\n]*)*)`);
    const found = shown.exec(read(page));
    if (process.env.UPDATE_DOCS === "1") {
      writeFileSync(
        join(ROOT, page),
        read(page).replace(shown, (_, mark: string) => `${mark}\n${text}`),
      );
      return;
    }
    expect(found?.[2]?.trim(), `${page} is out of date: UPDATE_DOCS=1 npx vitest run test/docs.test.ts`).toBe(text);
  });

  test("field codes, next actions and states are explained, each of them", () => {
    const errors = read("docs/reference/errors.md");
    const states = read("docs/concepts/states.md").split("## What they mean")[1] ?? "";
    expect([...FIELD_ERROR_CODES, ...NEXT_ACTIONS].filter((name) => !errors.includes(code(name)))).toEqual([]);
    expect(Object.keys(TRANSITIONS).filter((name) => !states.includes(`| ${code(name)} |`))).toEqual([]);
  });
});

describe("pages", () => {
  test.each(pages)("every link of %s leads somewhere", (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const local = links.filter((target) => !/^https?:/.test(target)).map((target) => target.replace(/#.*$/, ""));
    expect(local.filter((target) => target !== "" && !existsSync(join(ROOT, dirname(page), target)))).toEqual([]);
  });

  test.each(pages)("every file that %s names is there", (page) => {
    const named = [...read(page).matchAll(/`((?:packages|apps|test|examples|scripts|docs)\/[\w./-]+)`/g)].map(
      ([, path = ""]) => path,
    );
    // The operation that CONTRIBUTING adds as an example.
    expect(named.filter((path) => !path.includes("annotate") && !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test("the index names every page", () => {
    const index = read("docs/README.md");
    const inDocs = pages.filter((page) => page.startsWith("docs/") && page !== "docs/README.md");
    expect(inDocs.filter((page) => !index.includes(`(${page.slice("docs/".length)})`))).toEqual([]);
  });

  test("every dependency has its reason in a decision", () => {
    const decisions = pages
      .filter((page) => page.startsWith("docs/decisions/"))
      .map((page) => read(page).toLowerCase())
      .join();
    const names = globSync("{.,packages/*,apps/*}/package.json", { cwd: ROOT }).flatMap((path) => {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(read(path)) as Record<
        string,
        Record<string, string>
      >;
      return Object.keys({ ...dependencies, ...devDependencies });
    });
    const named = (name: string): boolean =>
      decisions.includes(name) || decisions.includes(name.replace(/^@\w+\//, ""));
    const foreign = [...new Set(names)].filter(
      (name) => !name.startsWith("@formbridge/") && !name.startsWith("@types/"),
    );
    expect(foreign.length).toBeGreaterThan(15);
    expect(foreign.filter((name) => !named(name))).toEqual([]);
    const listed = [...read("docs/decisions/0021-small-dependencies.md").matchAll(/^\| `([^`]+)` \|/gm)].map(
      ([, name = ""]) => name,
    );
    expect(listed.filter((name) => !foreign.includes(name))).toEqual([]);
  });

  test("code that is said to be a file is that file", () => {
    const blocks = pages.flatMap((page) => [...read(page).matchAll(/<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)```/g)]);
    expect(blocks.length).toBeGreaterThan(0);
    for (const [, file = "", text] of blocks) expect(text, file).toBe(read(file));
  });

  test("the README prints the tree that there is", () => {
    const tree = /## The tree[\s\S]*?```text\n([\s\S]*?)```/.exec(read("README.md"))?.[1] ?? "";
    expect(foldersOf(tree).toSorted()).toEqual(foldersThere().toSorted());
    expect(read("README.md").split("\n").length).toBeLessThan(150);
  });
});

/** The paths that an indented tree names. */
function foldersOf(tree: string): string[] {
  const above: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", name] = /^( *)([\w-]+)\//.exec(line) ?? [];
    if (name === undefined) return [];
    above.length = indent.length / 2;
    above.push(name);
    return [above.join("/")];
  });
}

function foldersThere(): string[] {
  const inside = (path: string): string[] =>
    readdirSync(join(ROOT, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
      .map((entry) => join(path, entry.name));
  return [
    ...inside("."),
    ...["packages", "apps"].flatMap(inside),
    ...inside("packages/core/src").map((path) => path.replace("/src/", "/")),
  ];
}

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

/** What a page shows, as a matcher: objects may have more members, lists are whole, and `…` stands for any text. */
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

/** The environment without what may be set for a server of one's own. */
const plainEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(FORMBRIDGE_|PORT$|DATABASE_URL$|REDIS_URL$)/.test(name)),
);

/** A folder where a page's blocks find what they find in the repository. */
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

/** Runs what a page does before the start, and answers the settings that it exports. */
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
      const key = /Admin key, shown this once: (\S+)/.exec(said)?.[1] ?? "";
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

/** Runs all blocks in one shell that stops at the first failure, the output of each in a file of its own. */
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

describe("examples/verify-history.ts", () => {
  async function history(): Promise<IntakeEvent[]> {
    const server = await startTestServer({ store: "memory" });
    try {
      await server.putIntake(minimalIntake("plain"));
      const actor = { kind: "human", id: "ada" };
      const created = await server.call("POST", "/intakes/plain/submissions", {
        body: { actor, initialFields: { name: "Zoë ☂" } },
      });
      const { submissionId, resumeToken } = created.body;
      await server.call("PATCH", `/resume/${resumeToken}`, {
        body: { actor, fields: { note: "a\nb", "address.city": 1.5 } },
      });
      const { body } = await server.call("GET", `/submissions/${submissionId}/events?stream=all&proof=true`, {
        key: server.adminKey,
      });
      return body.events;
    } finally {
      await server.stop();
    }
  }

  test("accepts a history, names the first event that was altered or left out, and does not miss what was erased", async () => {
    const events = await history();
    const altered = (seq: number, change: Partial<IntakeEvent>): IntakeEvent[] =>
      events.map((event) => (event.stream === "submission" && event.seq === seq ? { ...event, ...change } : event));
    expect(events.length).toBeGreaterThan(4);
    expect(firstProblem(events)).toBeUndefined();
    expect(firstProblem(altered(2, { version: 9 }))).toBe("submission event 2 was altered");
    expect(firstProblem(altered(2, { ts: "2030-01-01T00:00:00.000Z" }))).toBe("submission event 2 was altered");
    expect(firstProblem(altered(3, { actor: { kind: "human", id: "eve" } }))).toBe(
      "submission event 3 has another actor",
    );
    expect(firstProblem(altered(3, { payload: { fields: {} } }))).toBe("submission event 3 has another payload");
    expect(firstProblem(events.filter(({ stream, seq }) => stream !== "submission" || seq !== 2))).toBe(
      "submission event 3 does not follow the one before it",
    );
    const erased = events.map((event) => ({
      ...event,
      actor: null,
      payload: null,
      ...(event.proof && { proof: { ...event.proof, actorSalt: null, payloadSalt: null } }),
    }));
    expect(firstProblem(erased)).toBeUndefined();
    const unsalted = erased.map((event, index) => ({ ...event, actor: events[index]?.actor ?? null }));
    expect(firstProblem(unsalted)).toMatch(/event 1 has another actor$/);
  });
});
