/** The OID of `text`. */
const TEXT = 25;
const HEAD_BYTES = 20;
const EMPTY_BYTES = 12;
const NULL_BYTES = -1;

export type Texts = readonly (string | null)[];

/** How many bytes `writeTextArray` writes. */
export const textArrayBytes = (values: Texts): number =>
  values.length === 0
    ? EMPTY_BYTES
    : values.reduce((sum, value) => sum + 4 + (value === null ? 0 : Buffer.byteLength(value)), HEAD_BYTES);

/**
 * Writes a `text[]` in PostgreSQL's own format, and says where it ends. Written as text, every element would be escaped here and
 * read character by character there.
 *
 *   dimensions, has NULLs, element type │ length, lower bound │ (bytes, text)*, -1 for NULL
 */
export function writeTextArray(values: Texts, buffer: Buffer, start: number): number {
  const dimensions = values.length === 0 ? 0 : 1;
  let end = buffer.writeInt32BE(dimensions, start);
  end = buffer.writeInt32BE(dimensions, end);
  end = buffer.writeInt32BE(TEXT, end);
  if (dimensions === 0) return end;
  end = buffer.writeInt32BE(values.length, end);
  end = buffer.writeInt32BE(1, end);
  for (const value of values) {
    const bytes = value === null ? 0 : buffer.write(value, end + 4);
    buffer.writeInt32BE(value === null ? NULL_BYTES : bytes, end);
    end += 4 + bytes;
  }
  return end;
}

/** Of numbers and booleans, which need no escape. */
export const plainArray = (values: readonly (string | number | boolean | null)[]): string =>
  `{${values.map((value) => value ?? "NULL").join(",")}}`;

/**
 * A row for each place of the arrays, numbered from 1. The planner is not to know how many there are: for a few it would find a plan
 * of their own to be cheaper, and so plan anew each time, which costs more than everything else.
 */
export const unnested = (...arrays: string[]): string =>
  `unnest(${arrays.map((array) => `(SELECT ${array})`).join(", ")}) WITH ORDINALITY`;
