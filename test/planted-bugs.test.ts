import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BUGS } from "../scripts/planted-bugs/bugs/index.ts";
import { plant } from "../scripts/planted-bugs/planted-bug.ts";
import { verdictOf } from "../scripts/planted-bugs/run-suites.ts";

const ROOT = join(import.meta.dirname, "..");
/** It compares the text of every function with a snapshot, and so notices any change of it, harmful or not. */
const SNAPSHOT = "packages/store-postgres/test/migrations.test.ts";

describe("every planted bug", () => {
  test("has a name of its own", () => {
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
  });

  test.for(BUGS)("$name still matches the code, and its suites exist", (bug) => {
    const source = readFileSync(join(ROOT, bug.file), "utf8");
    expect(plant(source, bug)).not.toBe(source);
    expect(bug.caughtBy).not.toEqual([]);
    expect(bug.caughtBy.filter((suite) => suite === SNAPSHOT || !existsSync(join(ROOT, suite)))).toEqual([]);
  });
});

describe("planting", () => {
  const bug = { name: "a-bug", breaks: "", file: "a.ts", caughtBy: [], edits: [{ find: "one", replace: "$&two" }] };

  test("inserts the replacement as it is", () => {
    expect(plant("this one", bug)).toBe("this $&two");
  });

  test("refuses a text that does not occur, or occurs twice", () => {
    expect(() => plant("none", { ...bug, edits: [{ find: "two", replace: "" }] })).toThrow("a-bug: found 0 times");
    expect(() => plant("one one", bug)).toThrow("a-bug: found 2 times in a.ts");
  });
});

describe("a run of suites", () => {
  const suite = (status: string, ...failures: string[]) => ({
    name: "a.test.ts",
    status,
    message: failures.length === 0 ? "Error: no such file" : "",
    assertionResults: failures.map((why) => ({
      fullName: "a test",
      status: why === "" ? "passed" : "failed",
      failureMessages: [why],
    })),
  });
  const verdict = (...testResults: ReturnType<typeof suite>[]) =>
    verdictOf({ numTotalTests: 1, success: testResults.every(({ status }) => status === "passed"), testResults });

  test("fails by a test with another expectation", () => {
    const { kind, detail } = verdict(suite("failed", "", "AssertionError: expected 1 to be 2\n  at a.test.ts"));
    expect([kind, detail]).toEqual(["failed", "a test: AssertionError: expected 1 to be 2"]);
  });

  test("fails by a test with an unexpected error", () => {
    expect(verdict(suite("failed", "TypeError: no property of undefined\n    at a.test.ts:1:2"))).toMatchObject({
      kind: "failed",
    });
  });

  test("passes when all tests do", () => {
    expect(verdict(suite("passed", ""))).toMatchObject({ kind: "passed" });
  });

  test("is no verdict when a file can't be read, a planted text has a syntax error, or vitest itself fails", () => {
    expect(verdict(suite("failed", "AssertionError: x"), suite("failed"))).toMatchObject({
      kind: "broken",
      detail: "Error: no such file",
    });
    expect(verdict(suite("failed", "ReferenceError: x is not defined"))).toMatchObject({ kind: "broken" });
    expect(
      verdict(suite("failed", "TypeError: no function\n    at commit (store.ts:1:2)\n    at a.test.ts:1:2")),
    ).toMatchObject({ kind: "broken" });
    expect(verdict(suite("failed", ""))).toMatchObject({ kind: "broken" });
    expect(verdictOf({ numTotalTests: 0, success: true, testResults: [] })).toMatchObject({ kind: "broken" });
  });
});
