/** A spreadsheet reads text that starts like this as a formula, which may send data elsewhere or run a program. */
const LOOKS_LIKE_FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/;

/** One line by RFC 4180. Lists and objects are written as JSON; null and undefined are empty. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cellOf).join(",")}\r\n`;

function cellOf(value: unknown): string {
  const text = textOf(value);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  // After an apostrophe a spreadsheet shows the cell as text. Numbers can't be formulas and stay numbers.
  if (typeof value === "string") return LOOKS_LIKE_FORMULA.test(value) ? `'${value}` : value;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
