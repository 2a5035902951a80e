import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const DIST = join(import.meta.dirname, "../apps/web/dist");
const LANGUAGES = /^(de|es|fr|he|ja|pt)-/;

export interface PageSizes {
  script: number;
  style: number;
  /** The largest of the languages that are loaded on demand. */
  language: number;
}

const compressed = (file: string): number => gzipSync(readFileSync(join(DIST, file))).length;
const sum = (files: Iterable<string>): number => [...files].reduce((bytes, file) => bytes + compressed(file), 0);

/** Compressed bytes that a built page costs a browser: its own files and everything they import. */
export function pageSizes(page: "form" | "review"): PageSizes {
  const html = readFileSync(join(DIST, `${page}.html`), "utf8");
  const named = [...html.matchAll(/\/assets\/([\w.-]+\.(?:js|css))/g)].map(([, file]) => file ?? "");
  const scripts = new Set<string>();
  const open = named.filter((file) => file.endsWith(".js"));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (scripts.has(file)) continue;
    scripts.add(file);
    const source = readFileSync(join(DIST, file), "utf8");
    open.push(...[...source.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)].map(([, other]) => other ?? ""));
  }
  const languages = globSync("*.js", { cwd: DIST }).filter((file) => LANGUAGES.test(file));
  return {
    script: sum(scripts),
    style: sum(named.filter((file) => file.endsWith(".css"))),
    language: Math.max(0, ...languages.map(compressed)),
  };
}
