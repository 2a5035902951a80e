import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROMISES } from "@formbridge/contract";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const TEST_FILES = ["packages/*/{src,test}/**/*.test.ts", "apps/*/{src,test}/**/*.test.ts", "test/**/*.test.ts"];

const IDS = String.raw`(["'\`])((?:\[[A-Z0-9]+(?:-[A-Z0-9]+)+\]\s*)+)`;
/** The ids in square brackets that open the name of a test, also after `it.each(…)`. A skipped test proves nothing. */
const TEST_NAME = new RegExp(String.raw`\b(?:it|test)(?:\.(?!skip|todo|fails)\w+)*\s*\(\s*${IDS}`, "g");
const EACH_NAME = new RegExp(String.raw`\)\s*\(\s*${IDS}`, "g");
const ID = /\[([A-Z0-9-]+)\]/g;

function citations(): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const file of globSync(TEST_FILES, { cwd: ROOT, exclude: ["**/node_modules/**"] })) {
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const name of [...text.matchAll(TEST_NAME), ...text.matchAll(EACH_NAME)]) {
      for (const [, id = ""] of (name[2] ?? "").matchAll(ID)) cited.set(id, [...(cited.get(id) ?? []), file]);
    }
  }
  return cited;
}

describe("the promises of the contract", () => {
  const known = new Set(PROMISES.map(({ id }) => id));
  const cited = citations();

  it("have unique ids, and texts", () => {
    expect(PROMISES.length).toBe(known.size);
    for (const { id, says } of PROMISES) {
      expect(id).toMatch(/^[A-Z0-9]+(-[A-Z0-9]+)+$/);
      expect(says.length).toBeGreaterThan(20);
    }
  });

  it("are each proved by a test that cites them", () => {
    expect([...known].filter((id) => !cited.has(id))).toEqual([]);
  });

  it("are the only ones that tests cite", () => {
    const invented = [...cited].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${files.join(", ")}`);
    expect(invented).toEqual([]);
  });
});
