/**
 * Compares what the documentation says with the code; `docs-snippets.test.ts` runs what it shows.
 *
 * - `<!-- table: name -->` heads a table that is generated from the code. `UPDATE_DOCS=1` rewrites it.
 * - `<!-- checked: name -->` heads a table whose first column is compared with the code.
 * - `<!-- file: path -->` heads a code block that is a file of the repository.
 */
import { existsSync, globSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { TRANSITIONS } from "../packages/core/src/domain/transitions.ts";
import { CHECKED, code, TABLES } from "./support/doc-tables.ts";
import { pages, ROOT, read } from "./support/pages.ts";

describe("tables", () => {
  test.each(Object.entries(TABLES))("the table of %s says what the code says", (name, { page, text }) => {
    const shown = new RegExp(`(<!-- table: ${name} -->\\n)((?:\\n?\\|[^\\n]*)*)\\n*`);
    const found = shown.exec(read(page));
    if (process.env.UPDATE_DOCS === "1") {
      const updated = read(page).replace(shown, (_, mark: string) => `${mark}\n${text}\n\n`);
      writeFileSync(join(ROOT, page), `${updated.trimEnd()}\n`);
      return;
    }
    expect(found?.[2]?.trim(), `${page} is out of date: UPDATE_DOCS=1 npx vitest run test/docs.test.ts`).toBe(text);
  });

  test("states are explained, each of them", () => {
    const states = read("docs/concepts/states.md").split("## What they mean")[1] ?? "";
    expect(Object.keys(TRANSITIONS).filter((name) => !states.includes(`| ${code(name)} |`))).toEqual([]);
  });

  test.each(Object.entries(CHECKED))("[AUDIT-F23] the table of %s names what the code has", (name, { page, names }) => {
    const shown = new RegExp(`<!-- checked: ${name} -->\\n\\n((?:\\|[^\\n]*\\n)+)`).exec(read(page))?.[1] ?? "";
    const firstColumn = shown
      .split("\n")
      .slice(2)
      .map((row) => row.split("|")[1] ?? "");
    const named = firstColumn.flatMap((text) => [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span));
    expect(named.toSorted()).toEqual([...names].toSorted());
  });

  test("[AUDIT-F23] every table of the reference is generated from the code, or compared with it", () => {
    const unproven = pages
      .filter((page) => page.startsWith("docs/reference/"))
      .flatMap((page) =>
        [...read(page).matchAll(/([^\n]*)\n+(\|[^\n]*\|)\n\| ---/g)]
          .filter(([, before = ""]) => !isMark(before, page))
          .map(([, , head]) => `${page}: ${head}`),
      );
    expect(unproven).toEqual([]);
  });

  test.each(pages)("every table of %s ends with an empty line", (page) => {
    expect([...read(page).matchAll(/^\|[^\n]*\|\n(?!\||\n)[^\n]+/gm)].map(([text]) => text)).toEqual([]);
  });
});

function isMark(line: string, page: string): boolean {
  const [, kind, name = ""] = /^<!-- (table|checked): (\S+) -->$/.exec(line) ?? [];
  return (kind === "table" ? TABLES[name] : CHECKED[name])?.page === page;
}

describe("pages", () => {
  test.each(pages)("every link of %s works", (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const local = links.filter((target) => !/^https?:/.test(target)).map((target) => target.replace(/#.*$/, ""));
    expect(local.filter((target) => target !== "" && !existsSync(join(ROOT, dirname(page), target)))).toEqual([]);
  });

  test.each(pages)("every link of %s to a heading finds it", (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)].filter(([, to = ""]) => !/^https?:/.test(to));
    const lost = links.filter(([, to = "", anchor = ""]) => {
      const target = to === "" ? page : join(dirname(page), to);
      return target.endsWith(".md") && !anchorsOf(read(target)).includes(anchor);
    });
    expect(lost.map(([, to, anchor]) => `${to}#${anchor}`)).toEqual([]);
  });

  test.each(pages)("every file that %s names exists", (page) => {
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
    const listed = [...read("docs/decisions/0021-dependencies.md").matchAll(/^\| `([^`]+)` \|/gm)].map(
      ([, name = ""]) => name,
    );
    expect(listed.filter((name) => !foreign.includes(name))).toEqual([]);
  });

  test("code that is labelled as a file is that file", () => {
    const blocks = pages.flatMap((page) => [...read(page).matchAll(/<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)```/g)]);
    expect(blocks.length).toBeGreaterThan(0);
    for (const [, file = "", text] of blocks) expect(text, file).toBe(read(file));
  });

  test("the README prints the actual tree", () => {
    const tree = /## The tree[\s\S]*?```text\n([\s\S]*?)```/.exec(read("README.md"))?.[1] ?? "";
    expect(foldersOf(tree).toSorted()).toEqual(foldersThere().toSorted());
    expect(read("README.md").split("\n").length).toBeLessThan(150);
  });
});

/** The anchors of headings: lower case, words joined by dashes. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(/\s/g, "-"),
  );

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
