/**
 * What the documentation says is held against the code; `docs-snippets.test.ts` runs what it shows.
 *
 * - `<!-- table: name -->` heads a table that is made from the code. `UPDATE_DOCS=1` writes it anew.
 * - `<!-- file: path -->` heads a code block that is a file of the repository.
 */
import { existsSync, globSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProgram } from "../apps/server/src/cli/program.ts";
import { SETTINGS, type Setting } from "../apps/server/src/config/settings.ts";
import { ERROR_TYPES, FIELD_ERROR_CODES, NEXT_ACTIONS } from "../packages/contract/src/errors.ts";
import { EVENT_TYPES } from "../packages/contract/src/events.ts";
import { TRANSITIONS } from "../packages/core/src/domain/transitions.ts";
import { STATUS } from "../packages/http/src/error-map.ts";
import { ROUTES } from "../packages/http/src/routes.ts";
import { TOOLS } from "../packages/mcp/src/tools/table.ts";
import { pages, ROOT, read } from "./support/pages.ts";

const code = (text: string): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "\\<");
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

function commandRows(command: Awaited<ReturnType<typeof createProgram>>, above: string[] = []): string[][] {
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
  commands: { page: "docs/reference/cli.md", text: table(["command", "does"], commandRows(await createProgram())) },
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
