import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { FORM_TEXTS } from "@formbridge/form/texts";
import { parseAst } from "vite";
import { describe, expect, it } from "vitest";
import { chooseLanguage, createReader, LANGUAGES } from "../src/shared/language.ts";
import { he } from "../src/shared/texts/he.ts";

const ROOT = join(import.meta.dirname, "../../..");
const MAX_LANGUAGE_BYTES = 3 * 1024;

type Catalog = Record<string, string>;

/** Words that another language spells as English does. */
const SAME: Record<string, readonly string[]> = {
  de: ["form.optional", "form.kindText", "code.code"],
  fr: ["code.code"],
  es: ["form.no"],
};

const PLURAL = /\.(zero|one|two|few|many|other)$/;
const placeholders = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([found]) => found).toSorted();

/** The catalogs of each page, by the folder that they are in. */
const folders = globSync("apps/web/src/**/texts/en.ts", { cwd: ROOT }).map((file) => dirname(join(ROOT, file)));

async function catalogOf(folder: string, language: string): Promise<Catalog> {
  const module = (await import(join(folder, `${language}.ts`))) as Record<string, Catalog>;
  return module[language] ?? {};
}

const cases = folders.flatMap((folder) =>
  LANGUAGES.filter((each) => each !== "en").map((language) => ({ folder, at: relative(ROOT, folder), language })),
);

describe.each(cases)("$at in $language", async ({ folder, language }) => {
  const [english, catalog] = await Promise.all([catalogOf(folder, "en"), catalogOf(folder, language)]);
  const pluralBases = Object.keys(english).flatMap((id) => (id.endsWith(".one") ? [id.slice(0, -".one".length)] : []));
  const isPlural = (id: string): boolean => PLURAL.test(id) && pluralBases.includes(id.replace(PLURAL, ""));
  const plainIds = (texts: Catalog): string[] =>
    Object.keys(texts)
      .filter((id) => !isPlural(id))
      .toSorted();

  it("[PAGES-LANGUAGES] has every id, and no obsolete one", () => {
    expect(plainIds(catalog)).toEqual(plainIds(english));
  });

  it("[PAGES-LANGUAGES] is translated", () => {
    const untranslated = Object.entries(catalog).flatMap(([id, text]) =>
      text === english[id] && /\p{L}/u.test(text.replaceAll(/\{\w+\}/g, "")) ? [id] : [],
    );
    expect(untranslated.filter((id) => SAME[language]?.includes(id) !== true)).toEqual([]);
  });

  it("[PAGES-LANGUAGES] has the placeholders of the English text", () => {
    // A form for exactly one number may spell it out.
    const isSpelledOut = (id: string): boolean => isPlural(id) && /\.(one|two)$/.test(id);
    const wrong = Object.entries(catalog).filter(([id, text]) => {
      const wanted = placeholders(english[id] ?? english[id.replace(PLURAL, ".other")] ?? "");
      const found = placeholders(text);
      return found.join() !== wanted.join() && !(isSpelledOut(id) && found.length === 0);
    });
    expect(wrong).toEqual([]);
  });

  it("[PAGES-LANGUAGES] has each plural form that the language needs for whole numbers", () => {
    const rules = new Intl.PluralRules(language);
    const needed = new Set<string>(Array.from({ length: 1000 }, (_, count) => rules.select(count)));
    const missing = pluralBases.flatMap((base) =>
      [...needed].map((form) => `${base}.${form}`).filter((id) => catalog[id] === undefined),
    );
    expect(missing).toEqual([]);
    const unused = Object.keys(catalog).filter((id) => isPlural(id) && !needed.has(PLURAL.exec(id)?.[1] ?? ""));
    expect(unused).toEqual([]);
  });

  it("[PAGES-LANGUAGES] stays within 3 kB on the wire", () => {
    expect(gzipSync(JSON.stringify(catalog)).length).toBeLessThanOrEqual(MAX_LANGUAGE_BYTES);
  });
});

describe("the language of a page", () => {
  it("[PAGES-LANGUAGES] is the first of the browser's languages that we have", () => {
    expect(chooseLanguage(["nl", "pt-BR", "de"])).toEqual({ language: "pt", locale: "pt-BR" });
    expect(chooseLanguage(["nl"])).toEqual({ language: "en", locale: "en" });
    expect(chooseLanguage([])).toEqual({ language: "en", locale: "en" });
  });

  it("[PAGES-LANGUAGES] chooses the plural form by its own rules", async () => {
    const hebrew = await createReader(["he-IL"]);
    expect([1, 2, 3].map((count) => hebrew.plural("page.missing", count))).toEqual([
      he["page.missing.one"],
      he["page.missing.two"],
      he["page.missing.other"].replace("{count}", "3"),
    ]);
    const japanese = await createReader(["ja"]);
    expect(japanese.plural("page.missing", 1)).toContain("1");
    const french = await createReader(["fr"]);
    expect(french.plural("page.missing", 0)).toBe("Il manque encore 0 réponse.");
  });

  it("[PAGES-LANGUAGES] keeps a name in the other writing direction in its place", async () => {
    const hebrew = await createReader(["he"]);
    expect(hebrew.t("page.from", { name: "bot (v2)" })).toContain("\u2068bot (v2)\u2069");
    const german = await createReader(["de"]);
    expect(german.t("page.from", { name: "bot (v2)" })).toBe("Nachricht von bot (v2)");
  });
});

interface Node {
  type: string;
  [name: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";
const hasWords = (text: unknown): text is string => typeof text === "string" && /\p{L}{2}/u.test(text);
const SPOKEN = new Set([
  "alt",
  "title",
  "placeholder",
  "label",
  "aria-label",
  "aria-description",
  "aria-roledescription",
]);

/** Texts that an expression may evaluate to, when it is a child or a spoken attribute of an element. */
function literalsOf(node: unknown): string[] {
  if (!isNode(node)) return [];
  if (node.type === "Literal") return hasWords(node.value) ? [node.value] : [];
  if (node.type === "TemplateLiteral")
    return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).filter(hasWords);
  if (node.type === "ConditionalExpression") return [node.consequent, node.alternate].flatMap(literalsOf);
  if (node.type === "LogicalExpression") return [node.left, node.right].flatMap(literalsOf);
  return node.type === "JSXExpressionContainer" ? literalsOf(node.expression) : [];
}

function textsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (!isNode(node)) return [];
  const found: string[] = [];
  if (node.type === "JSXText" && hasWords(node.value)) found.push(node.value.trim());
  if (node.type === "JSXAttribute" && SPOKEN.has(String((node.name as { name?: unknown }).name)))
    found.push(...literalsOf(node.value));
  if (node.type === "JSXElement" || node.type === "JSXFragment")
    found.push(...(node.children as Node[]).filter(({ type }) => type !== "JSXText").flatMap(literalsOf));
  return [...found, ...Object.values(node).flatMap(textsIn)];
}

const textsOf = (source: string): string[] => textsIn(parseAst(source, { lang: "tsx" }));

/** Ids that are put together from a prefix and a value: the codes of errors, the kinds of problems. */
const COMPOSED = /^(error|problem|file|barred|proof|done|author|history)\.|^page\.(saved|saving|waiting|offline)$/;

describe("components", () => {
  it("use every text that exists", () => {
    const files = globSync("{apps/web,packages/form}/src/**/*.{ts,tsx}", {
      cwd: ROOT,
      exclude: ["**/texts/**", "**/texts.ts"],
    });
    const code = files.map((file) => readFileSync(join(ROOT, file), "utf8")).join("\n");
    const ids = folders.flatMap((folder) => [
      ...readFileSync(join(folder, "en.ts"), "utf8").matchAll(/^ {2}"([\w.]+)":/gm),
    ]);
    const all = [...ids.map(([, id = ""]) => id), ...Object.keys(FORM_TEXTS)];
    const isShown = (id: string) => code.includes(`"${id}"`) || code.includes(`"${id.replace(PLURAL, "")}"`);
    expect(all.filter((id) => !COMPOSED.test(id) && !isShown(id))).toEqual([]);
  });

  it("[PAGES-LANGUAGES] contain no text of their own", () => {
    const files = globSync("{apps/web,packages/form}/src/**/*.tsx", { cwd: ROOT });
    expect(files.length).toBeGreaterThan(10);
    const found = files.flatMap((file) => textsOf(readFileSync(join(ROOT, file), "utf8")).map((text) => [file, text]));
    expect(found).toEqual([]);
  });

  it("are searched thoroughly", () => {
    const source =
      'const a = <p title="One word">Two words {x ? "Three words" : null} {y && `Four`} {t("five.id")} {"…"}</p>;';
    expect(textsOf(source).toSorted()).toEqual(["Four", "One word", "Three words", "Two words"]);
  });
});
