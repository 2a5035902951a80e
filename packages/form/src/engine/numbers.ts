/** A double keeps this many digits exactly. */
const KEPT_DIGITS = 15;
/** `1,000` is a thousand to some readers and one to others. */
const GROUPED = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+$/;
const NUMBER = /^[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?$/;

const isKept = (typed: string, number: number): boolean => {
  const digits = typed
    .replace(/[eE].*$/, "")
    .replaceAll(/\D/g, "")
    .replace(/^0+/, "");
  return Number.isSafeInteger(number) || digits.length <= KEPT_DIGITS;
};

/**
 * The number that was typed. Anything that is no number, could be read as two, or would be rounded stays the text that it
 * is: nothing is lost, and the server says what is wrong with it.
 */
export function numberIn(typed: string): number | string | undefined {
  const text = typed.trim();
  if (text === "") return undefined;
  if (!NUMBER.test(text) || GROUPED.test(text)) return text;
  const number = Number(text.replace(",", "."));
  return Number.isFinite(number) && isKept(text, number) ? number : text;
}
