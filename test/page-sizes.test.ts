import { describe, expect, it } from "vitest";
import { formPageSizes } from "../bench/page-sizes.ts";

describe("what a browser loads for the form page", () => {
  it("[FORM-SIZE] is at most 90 kB of script and 6 kB of style, and 3 kB for another language", () => {
    const { script, style, language } = formPageSizes();
    expect(script).toBeGreaterThan(10_000);
    expect(script).toBeLessThanOrEqual(90_000);
    expect(style).toBeLessThanOrEqual(6_000);
    expect(language).toBeLessThanOrEqual(3_000);
  });
});
