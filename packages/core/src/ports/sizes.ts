/** How much a store holds. */
export interface StoreSizes {
  /** Tokens, current and rotated. */
  tokens: number;
  /** Idempotency records, by intake. */
  records: Readonly<Record<string, number>>;
}

/** Jobs are counted up to this number: counting more would take a scan. */
export const MAX_COUNTED_JOBS = 10_000;
