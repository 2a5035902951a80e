/** The OID of `text`. */
const TEXT = 25;
const HEAD_BYTES = 20;
const MAX_BYTES_A_UNIT = 3;

/**
 * A `text[]` in PostgreSQL's own format, which the driver passes on as it is. Written as text, every element would be escaped here
 * and read character by character there.
 *
 *   dimensions, has NULLs, element type │ length, lower bound │ (bytes, text)*, -1 for NULL
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  if (values.length === 0) return emptyArray();
  const room = values.reduce((sum, value) => sum + 4 + (value?.length ?? 0) * MAX_BYTES_A_UNIT, HEAD_BYTES);
  const buffer = Buffer.allocUnsafe(room);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(1, 4);
  buffer.writeInt32BE(TEXT, 8);
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16);
  let end = HEAD_BYTES;
  for (const value of values) {
    const bytes = value === null ? 0 : buffer.write(value, end + 4);
    buffer.writeInt32BE(value === null ? -1 : bytes, end);
    end += 4 + bytes;
  }
  return buffer.subarray(0, end);
}

function emptyArray(): Buffer {
  const buffer = Buffer.alloc(12);
  buffer.writeInt32BE(TEXT, 8);
  return buffer;
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
