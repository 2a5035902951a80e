import { type ClientBase, type Connection, Query } from "pg";
import { type Texts, textArrayBytes, writeTextArray } from "./arrays.ts";

/** An array is a `text[]`; of everything else goes what it is called. */
export type Value = string | number | boolean | null | Texts;

const BIND = "B".charCodeAt(0);
const NULL_BYTES = -1;
const AS_TEXT = 0;
const AS_BYTES = 1;

const isArray = (value: Value): value is Texts => Array.isArray(value);

function bytesOf(value: Value): number {
  if (value === null) return NULL_BYTES;
  return isArray(value) ? textArrayBytes(value) : Buffer.byteLength(String(value));
}

/**
 * The message that gives a prepared statement its values, in a buffer of its size.
 *
 *   B, size │ portal (none), statement │ format of each value │ (size, value)*, -1 for NULL │ results as text
 */
function bindMessage(statement: string, values: readonly Value[]): Buffer {
  const sizes = values.map(bytesOf);
  const head = 5 + 1 + Buffer.byteLength(statement) + 1;
  const valueBytes = sizes.reduce((sum, bytes) => sum + 4 + Math.max(bytes, 0), 0);
  const message = Buffer.allocUnsafe(head + 2 + 2 * values.length + 2 + valueBytes + 4);
  message.writeUInt8(BIND, 0);
  message.writeInt32BE(message.length - 1, 1);
  message.write(`\0${statement}\0`, 5);
  let end = message.writeUInt16BE(values.length, head);
  for (const value of values) end = message.writeUInt16BE(isArray(value) ? AS_BYTES : AS_TEXT, end);
  end = message.writeUInt16BE(values.length, end);
  for (const [index, value] of values.entries()) {
    end = message.writeInt32BE(sizes[index] ?? NULL_BYTES, end);
    if (isArray(value)) end = writeTextArray(value, message, end);
    else if (value !== null) end += message.write(String(value), end);
  }
  message.writeUInt16BE(1, end);
  message.writeUInt16BE(AS_TEXT, end + 2);
  return message;
}

/**
 * Runs a prepared statement whose values are measured before they are written. The driver's own buffer begins with 256 bytes and grows
 * with each value: for a group of changes it leaves several times the message behind, outside the heap, where so much garbage makes
 * V8 collect everything more than once a second.
 */
export function runSized<Row extends object>(
  client: ClientBase,
  { name, text }: { name: string; text: string },
  values: readonly Value[],
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const message = bindMessage(name, values);
    const query = new Query<Row>({ name, text }, (error, result) => (error ? reject(error) : resolve(result.rows)));
    const { submit } = query;
    query.submit = (connection) => submit.call(query, sizing(connection, message));
    client.query(query);
  });
}

/** The connection, but for how it binds. */
const sizing = (connection: Connection, message: Buffer): Connection =>
  Object.create(connection, { bind: { value: () => connection.stream.writable && connection.stream.write(message) } });
