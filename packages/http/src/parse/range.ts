export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** One range of bytes; undefined, and so the whole file, for none, for several, and for what does not fit. */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const [, from = "", until = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (from === "" && until === "") return undefined;
  const start = from === "" ? Math.max(0, sizeBytes - Number(until)) : Number(from);
  const end = from === "" || until === "" ? sizeBytes - 1 : Math.min(Number(until), sizeBytes - 1);
  return start <= end ? { start, end } : undefined;
}
