import type { CSSProperties } from "react";

type Rgb = readonly [number, number, number];

/** The contrast that WCAG requires of text. */
const READABLE = 4.5;
const STEP = 0.05;
const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** The lightest and darkest surfaces that the accent stands on: see form.css. */
const LIGHT: Rgb = [0xf5, 0xf7, 0xfb];
const DARK: Rgb = [0x15, 0x1b, 0x28];

function parse(hex: string): Rgb | undefined {
  const digits = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(hex)?.[1];
  if (digits === undefined) return undefined;
  const full = digits.length < 6 ? [...digits].map((digit) => digit + digit).join("") : digits;
  return [0, 2, 4].map((at) => Number.parseInt(full.slice(at, at + 2), 16)) as unknown as Rgb;
}

const luminance = (color: Rgb): number => {
  const [r, g, b] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

export function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const css = (color: Rgb): string => `rgb(${color.join(" ")})`;

/** The brand's color, moved towards black or white until it can be read on the surface. */
function readable(color: Rgb, surface: Rgb, towards: Rgb): Rgb {
  let found = color;
  for (let share = STEP; share <= 1 && contrast(found, surface) < READABLE; share += STEP)
    found = color.map((part, at) => Math.round(part + ((towards[at] ?? 0) - part) * share)) as unknown as Rgb;
  return found;
}

const onTop = (accent: Rgb): Rgb => (contrast(accent, WHITE) >= READABLE ? WHITE : BLACK);

/** The accents of light and dark pages in the brand's color, and the text on them. */
export function accentsOf(hex: string): { light: Rgb; dark: Rgb; onLight: Rgb; onDark: Rgb } | undefined {
  const color = parse(hex);
  if (color === undefined) return undefined;
  const [light, dark] = [readable(color, LIGHT, BLACK), readable(color, DARK, WHITE)];
  return { light, dark, onLight: onTop(light), onDark: onTop(dark) };
}

export function brandStyle(hex: string | undefined): CSSProperties | undefined {
  const accents = hex === undefined ? undefined : accentsOf(hex);
  if (accents === undefined) return undefined;
  const { light, dark, onLight, onDark } = accents;
  const properties: Record<`--fb-${string}`, string> = {
    "--fb-accent": `light-dark(${css(light)}, ${css(dark)})`,
    "--fb-on-accent": `light-dark(${css(onLight)}, ${css(onDark)})`,
  };
  return properties as CSSProperties;
}
