import type { Random } from "./random.ts";

/** Names that reach a prototype where they are used as keys. */
export const UNSAFE_NAMES = ["__proto__", "constructor", "prototype"] as const;

/** Values that are JSON and valid nowhere, or almost. */
export const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0.1,
  2 ** 53 - 1,
  1e300,
  "",
  " ",
  "0",
  "null",
  "NaN",
  "Infinity",
  "__proto__",
  "constructor",
  "\u0000",
  "a\u0000b",
  "\r\nX-Evil: 1",
  "\u202e\ufeff\u200b",
  "🦄".repeat(50),
  "é".normalize("NFD"),
  "' OR 1=1 --",
  "'; DROP TABLE submissions; --",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an attack on loggers, word for word
  "${jndi:ldap://127.0.0.1/a}",
  "{{7*7}}",
  "../../../../etc/passwd",
  "<script>alert(1)</script>",
  "2026-01-01T23:59:60Z",
  "9999-12-31T23:59:59-23:59",
  "2026-02-30T00:00:00.000Z",
  "-000001-01-01T00:00:00Z",
  [],
  {},
  [null],
  [[[[]]]],
  { "": "" },
  { "a.b": 1 },
  { length: -1 },
  { toString: null, valueOf: 1, toJSON: "x", hasOwnProperty: 1 },
  { $ref: "#" },
  { uploadId: "upl_00000000-0000-7000-8000-000000000000" },
];

export const longText = (length: number): string => "x".repeat(length);

export function nested(depth: number, kind: "array" | "object"): string {
  return kind === "array" ? "[".repeat(depth) + "]".repeat(depth) : `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
}

const manyKeys = (count: number): string =>
  `{"fields":{${Array.from({ length: count }, (_, index) => `"k${index}":${index % 10}`).join(",")}}}`;

const TOO_MANY_KEYS = [manyKeys(100_000), manyKeys(11_000)] as const;
const TOO_LONG = `{"fields":{"name":"${longText(2 * 1024 * 1024)}"}}`;
const DEEP = `{"fields":{"name":${nested(200, "array")}}}`;
const DEEP_OBJECT = `{"fields":${nested(200, "object")}}`;

/** JSON texts that must all be refused by any operation. `$` is where a valid body would continue. */
const BROKEN_TEXTS: readonly string[] = [
  "{",
  "}",
  "[",
  '{"fields":}',
  '{"fields":{}}}',
  '{"fields":{}} trailing',
  '{"fields":{}}{"fields":{}}',
  "{'fields':{}}",
  '{fields:{"name":"x"}}',
  '{"fields":{"name":"x",}}',
  '{"fields":{"name":"x"}/* comment */}',
  '{"fields":{"name":NaN}}',
  '{"fields":{"name":Infinity}}',
  '{"fields":{"name":undefined}}',
  '{"fields":{"name":0x10}}',
  '{"fields":{"name":01}}',
  '{"fields":{"name":+1}}',
  '{"fields":{"name":.5}}',
  '{"fields":{"name":"a\nb"}}',
  '{"fields":{"name":"\\x41"}}',
  '{"fields":{"name":"\\u12"}}',
  "\ufeff{}",
  '\ufeff{"fields":{}}',
  "null",
  "[]",
  '"text"',
  "1",
  "true",
  " ",
  "\n\t ",
  "\u0000",
  '{"fields":{"amount":9007199254740993}}',
  '{"fields":{"amount":1e400}}',
  '{"fields":{"amount":-1e400}}',
  '{"fields":{"amount":0.1000000000000000055}}',
  '{"fields":{"amount":123456789012345678901234567890}}',
  `{"fields":{"amount":0.1${"0".repeat(3000)}1}}`,
  '{"version":1e400}',
  '{"version":9007199254740993}',
  '{"fields":{"name":"\\ud800"}}',
  '{"fields":{"name":"\\udc00\\ud800"}}',
  '{"fields":{"\\ud800":"x"}}',
  '{"__proto__":{"x":1}}',
  '{"fields":{"__proto__":{"x":1}}}',
  '{"fields":{"address":{"__proto__":{"city":"x"}}}}',
  '{"fields":{"constructor":{"prototype":{"x":1}}}}',
  '{"fields":{"items":[{"prototype":1}]}}',
  '{"fields":{"\\u005f_proto__":1}}',
  '{"actor":{"kind":"agent","id":"x","metadata":{"constructor":1}}}',
  DEEP,
  DEEP_OBJECT,
];

const BROKEN_BYTES: readonly Buffer[] = [
  Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
  Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]),
  // A raw surrogate, encoded as UTF-8 would encode it if it could.
  Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]),
  Buffer.from([0x80]),
  Buffer.from('{"a":"b"}', "utf16le"),
  Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("{}", "utf16le")]),
  Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]),
];

/** Bytes that no operation may accept. The big ones are rare, because they cost time. */
export function brokenBody(random: Random): Buffer {
  if (random.chance(0.01)) return Buffer.from(TOO_LONG);
  if (random.chance(0.015)) return Buffer.from(random.pick(TOO_MANY_KEYS));
  return random.chance(0.15) ? random.pick(BROKEN_BYTES) : Buffer.from(random.pick(BROKEN_TEXTS));
}
