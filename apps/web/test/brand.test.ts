import { expect, it } from "vitest";
import { accentsOf, brandStyle, contrast } from "../src/shared/brand.ts";

it.each(["#0a6b4f", "#ffd400", "#000", "#fff", "#7f7f7f", "#ff0000cc", "#1d4ed8"])(
  "[PAGES-BRANDING] %s is readable on light and dark pages, and so is text on it",
  (color) => {
    const accents = accentsOf(color);
    if (accents === undefined) throw new Error("no color");
    const { light, dark, onLight, onDark } = accents;
    expect(contrast(light, [0xf5, 0xf7, 0xfb])).toBeGreaterThanOrEqual(4.5);
    expect(contrast(dark, [0x15, 0x1b, 0x28])).toBeGreaterThanOrEqual(4.5);
    expect(contrast(light, onLight)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(dark, onDark)).toBeGreaterThanOrEqual(4.5);
  },
);

it("[PAGES-BRANDING] a readable color stays as it is, and an invalid one changes nothing", () => {
  expect(accentsOf("#0a6b4f")?.light).toEqual([0x0a, 0x6b, 0x4f]);
  expect(brandStyle("url(x)")).toBeUndefined();
  expect(brandStyle(undefined)).toBeUndefined();
});
