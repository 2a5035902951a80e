/** The tables that hold values sealed at rest. */
export const SEALED_KINDS = ["submissions", "records", "handoffs", "webhooks", "definitions"] as const;
export type SealedKind = (typeof SEALED_KINDS)[number];

/** A row with the texts that its sealed values are in, by column, and what they are bound to. */
export interface SealedRow {
  kind: SealedKind;
  /** Identifies the row within its kind; rows are ordered by it. */
  key: readonly (string | number)[];
  texts: Readonly<Record<string, string | null>>;
}

/** Reads and replaces sealed values, for changing the secret. A store in memory has none. */
export interface SealedRows {
  /** At most `limit` rows of a kind in key order, starting after `after`. */
  page(kind: SealedKind, limit: number, after?: SealedRow): Promise<SealedRow[]>;
  /** Replaces texts of a row if none has changed since it was read; returns whether it did. */
  replace(row: SealedRow, texts: SealedRow["texts"]): Promise<boolean>;
}
