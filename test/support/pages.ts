import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");
export const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
/** All pages of the documentation. */
export const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "bench/RESULTS.md",
  ...globSync("docs/**/*.md", { cwd: ROOT }).toSorted(),
];
