import { describe, expect, it } from "vitest";
import { pageSizes } from "../bench/page-sizes.ts";

describe("what a browser loads for a page", () => {
  it("[FORM-SIZE] is at most 90 kB of script and 6 kB of style, and 3 kB for another language", () => {
    const { script, style, language } = pageSizes("form");
    expect(script).toBeGreaterThan(10_000);
    expect(script).toBeLessThanOrEqual(90_000);
    expect(style).toBeLessThanOrEqual(6_000);
    expect(language).toBeLessThanOrEqual(3_000);
  });

  it("[PAGES-REVIEW-SIZE] is at most 110 kB for the review page, script and style together", () => {
    const { script, style } = pageSizes("review");
    expect(script).toBeGreaterThan(10_000);
    expect(script + style).toBeLessThanOrEqual(110_000);
  });
});
