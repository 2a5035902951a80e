const MAX_LENGTH = 200;

/** What a scanner found, as one short line that is safe to record. */
export function foundWords(text: string): string {
  const line = text.split("\n").find((part) => part.trim() !== "") ?? "";
  const plain = line
    .replace(/[^\x20-\x7e]/g, "")
    .trim()
    .slice(0, MAX_LENGTH);
  return plain === "" ? "something harmful" : plain;
}
