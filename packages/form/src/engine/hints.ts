import type { FieldHint } from "@formbridge/contract";

export type Hints = Readonly<Record<string, FieldHint>>;
type Path = readonly (string | number)[];

export const dotted = (path: Path): string => path.join(".");

/** Hints and steps name the items of a list by its first one: `lines.0.amount` means every line. */
const general = (path: Path): string => dotted(path.map((part) => (typeof part === "number" ? 0 : part)));

export function hintFor(hints: Hints, path: Path): FieldHint {
  const key = general(path);
  return Object.hasOwn(hints, key) ? (hints[key] ?? {}) : {};
}

/** Belongs to the step: one of its fields, what is inside one, and the groups around one. */
export function isInStep(step: readonly string[] | undefined, path: Path): boolean {
  const here = general(path);
  return (
    step === undefined ||
    here === "" ||
    step.some((field) => here === field || here.startsWith(`${field}.`) || field.startsWith(`${here}.`))
  );
}

/** Fields with an `order` come first, in that order; the others follow as the schema has them. */
export function inOrder(names: readonly string[], hints: Hints, parent: Path): string[] {
  const orderOf = (name: string) => hintFor(hints, [...parent, name]).order ?? Number.POSITIVE_INFINITY;
  return names.toSorted((one, other) => {
    const [a, b] = [orderOf(one), orderOf(other)];
    return a === b ? 0 : a - b;
  });
}

/** A name as a label, for fields without a title: `company_name` and `companyName` read "Company name". */
export function labelFrom(name: string): string {
  const words = name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/[_\s]+/g, " ")
    .trim();
  if (words === "" || /\s/.test(name)) return name;
  const isAcronym = (word: string) => word.length > 1 && word === word.toUpperCase();
  const [first = "", ...others] = words.split(" ");
  const rest = others.map((word) => (isAcronym(word) ? word : word.toLowerCase()));
  return [first.slice(0, 1).toUpperCase() + first.slice(1), ...rest].join(" ");
}
