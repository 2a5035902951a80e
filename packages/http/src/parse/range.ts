export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/**
 * One byte range (RFC 9110). Undefined, meaning the whole file, for no range, several ranges or an invalid one; `beyond` if it is
 * outside the file. The `range-parser` package differs: it answers 416 to an invalid range and to a suffix longer than the file.
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | "beyond" | undefined {
  const [, from = "", until = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (from === "" && until === "") return undefined;
  if (from !== "" && until !== "" && Number(until) < Number(from)) return undefined;
  const start = from === "" ? Math.max(0, sizeBytes - Number(until)) : Number(from);
  const end = from === "" || until === "" ? sizeBytes - 1 : Math.min(Number(until), sizeBytes - 1);
  return start <= end ? { start, end } : "beyond";
}
