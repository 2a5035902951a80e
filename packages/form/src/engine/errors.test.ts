import { describe, expect, it } from "vitest";
import { inEnglish } from "../texts.ts";
import { errorsByPath, wordsFor } from "./errors.ts";

const error = (code: string, more: object = {}) =>
  ({ path: "a", code, message: "told by the server", ...more }) as never;

describe("errors in words", () => {
  it("are the reader's own, except where only the server knows", () => {
    expect(wordsFor(error("required"), inEnglish)).toBe("Please fill this in.");
    expect(wordsFor(error("custom"), inEnglish)).toBe("told by the server");
    expect(wordsFor(error("of_a_later_version"), inEnglish)).toBe("told by the server");
  });

  it("name the limit", () => {
    expect(wordsFor(error("invalid_value", { expected: 5, received: 3 }), inEnglish)).toContain("smallest");
    expect(wordsFor(error("invalid_value", { expected: 5, received: 7 }), inEnglish)).toContain("largest");
  });

  it("are found by path, whatever the field is called, each once", () => {
    const errors = [{ path: "toString" }, { path: "toString" }, { path: "a.0.b" }];
    const found = errorsByPath(
      errors.map((each) => error("required", each)),
      inEnglish,
    );
    expect([...found]).toEqual([
      ["toString", ["Please fill this in."]],
      ["a.0.b", ["Please fill this in."]],
    ]);
    expect(found.get("valueOf")).toBeUndefined();
  });
});
