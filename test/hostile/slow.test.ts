import type { IntakeDefinition } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";

/** One small request must not delay everybody: bodies within the limits that are made to be slow, each timed. */
let server: TestServer;

const FORMATS = [
  "email",
  "uri",
  "uri-reference",
  "uri-template",
  "hostname",
  "ipv4",
  "ipv6",
  "date-time",
  "date",
  "time",
  "duration",
  "uuid",
  "json-pointer",
  "regex",
];
const SCHEMA: IntakeDefinition["schema"] = {
  type: "object",
  properties: {
    name: { type: "string" },
    code: { type: "string", pattern: "^[A-Z]{3}-[0-9]{4}$" },
    list: { type: "array", items: { type: "object", properties: { sku: { type: "string" } } } },
    set: { type: "array", uniqueItems: true },
    objects: { type: "array", uniqueItems: true, items: { type: "object" } },
    choice: {
      anyOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { type: "array", items: { type: "number" } },
      ],
    },
    tree: { $ref: "#/$defs/tree" },
    ...Object.fromEntries(FORMATS.map((format) => [format, { type: "string", format }])),
  },
  $defs: {
    tree: {
      type: "object",
      properties: { left: { $ref: "#/$defs/tree" }, right: { $ref: "#/$defs/tree" } },
      additionalProperties: false,
    },
  },
};

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "slow", schema: SCHEMA });
  const strict = { ...SCHEMA, additionalProperties: false };
  await server.putIntake({ id: "slow-strict", schema: strict });
});
afterAll(() => server.stop());

const MAX_MS = 2500;
const MAX_ANSWER_CHARS = 3 * 1024 * 1024;
const SIZE = 900_000;
const TEXT_SIZE = 150_000;
const repeat = (piece: string, separator = ","): string =>
  Array.from({ length: Math.floor(SIZE / (piece.length + separator.length)) }, () => piece).join(separator);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const fields = (inner: string): string => `{"fields":{${inner}}}`;
const dotPaths = (count: number, depth: number): string =>
  Array.from(
    { length: count },
    (_, index) => `"${Array.from({ length: depth }, (__, at) => `p${at}_${index % 7}`).join(".")}":${index}`,
  ).join(",");

const BODIES: readonly [name: string, raw: string][] = [
  ["a number of 900,000 digits with zeros inside", fields(`"x":0.1${"0".repeat(SIZE)}1`)],
  ["a number of 900,000 zeros", fields(`"x":0.${"0".repeat(SIZE)}1`)],
  ["a whole number of 900,000 digits", fields(`"x":1${"0".repeat(SIZE)}1`)],
  ["an exponent of 900,000 digits", fields(`"x":1e${"0".repeat(SIZE)}1`)],
  ["many numbers with exponents", fields(`"x":[${repeat("1e1")}]`)],
  ["many long numbers", fields(`"x":[${repeat(`0.1${"0".repeat(900)}1`)}]`)],
  ["a list of values of the wrong type", fields(`"list":[${repeat("1")}]`)],
  [
    "a list of many objects with a wrong value each",
    fields(`"list":[${Array.from({ length: 9900 }, () => '{"sku":1}').join(",")}]`),
  ],
  ["a list of objects that must differ", fields(`"objects":[${numbers(9900).map((index) => `{"a":${index}}`)}]`)],
  ["a list of lists that must differ", fields(`"set":[${numbers(100_000).map((index) => `[${index}]`)}]`)],
  [
    "a list of numbers that must differ",
    fields(`"set":[${Array.from({ length: 120_000 }, (_, index) => index).join(",")}]`),
  ],
  ["a value that fits no branch", fields(`"choice":[${repeat('"x"')}]`)],
  ["a tree as deep as allowed", fields(`"tree":${'{"left":{},"right":'.repeat(60)}{}${"}".repeat(60)}`)],
  ["9,900 paths", fields(dotPaths(9900, 5))],
  ["paths as long as allowed", fields(dotPaths(2000, 60))],
  ["9,900 unknown names", fields(Array.from({ length: 9900 }, (_, index) => `"unknown${index}":1`).join(","))],
  ["a name of 900,000 characters", fields(`"${"n".repeat(SIZE)}":1`)],
  ["a name of 900,000 dots", fields(`"${".".repeat(SIZE)}":1`)],
  ["a text that a pattern looks at", fields(`"code":"${"A".repeat(SIZE)}"`)],
  ["many escapes", fields(`"x":"${"\\u0041".repeat(SIZE / 6)}"`)],
];
const TEXTS = ["a", "a.", "a@", "1:", "::", "1", "-", "%41", "a/", "{a", "http://a", "P1", "(a*)*", "~0/", "a-"];

const ACTOR = { actor: { kind: "agent", id: "a" } };

async function newToken(): Promise<string> {
  return (await server.call("POST", "/intakes/slow/submissions", { body: ACTOR })).body.resumeToken as string;
}

/** CPU time, so that a busy machine changes nothing. Client and server are one process here. */
async function timed(method: string, path: string, raw: string): Promise<{ ms: number; status: number; size: number }> {
  const began = process.cpuUsage();
  const { status, body } = await server.call(method, path, { raw });
  const { user, system } = process.cpuUsage(began);
  return { ms: (user + system) / 1000, status, size: JSON.stringify(body).length };
}

/** A body of setFields with its actor, and the same values as those of a new submission. */
const patch = (raw: string): string => raw.replace("{", `${JSON.stringify(ACTOR).slice(0, -1)},`);
const creation = (raw: string): string => patch(raw).replace('"fields"', '"initialFields"');

describe("a request within the limits is answered in time", () => {
  test.each(BODIES)("[BAD-INPUT-NO-EFFECT] %s", { timeout: 60_000 }, async (_, raw) => {
    const calls = [
      ["PATCH", `/resume/${await newToken()}/fields`, patch(raw)],
      ["POST", "/intakes/slow-strict/submissions", creation(raw)],
    ] as const;
    for (const [method, path, body] of calls) {
      const { ms, status, size } = await timed(method, path, body);
      expect(status).toBeLessThan(500);
      expect(ms).toBeLessThan(MAX_MS);
      expect(size).toBeLessThan(MAX_ANSWER_CHARS);
    }
  });

  test.each(FORMATS)(
    "[BAD-INPUT-NO-EFFECT] a long text in a field of the format %s",
    { timeout: 60_000 },
    async (format) => {
      for (const piece of TEXTS) {
        const text = `${piece.repeat(TEXT_SIZE / piece.length)}!`;
        const token = await newToken();
        const { ms, status } = await timed(
          "PATCH",
          `/resume/${token}/fields`,
          JSON.stringify({ ...ACTOR, fields: { [format]: text } }),
        );
        expect(status).toBe(200);
        expect(ms, piece).toBeLessThan(MAX_MS);
      }
    },
  );

  test("[BAD-INPUT-TOO-LARGE] the values of one submission do not grow without end", { timeout: 60_000 }, async () => {
    let token = await newToken();
    const statuses: number[] = [];
    for (let count = 0; count < 6; count++) {
      const fields = { [`more${count}`]: "x".repeat(SIZE) };
      const { status, body } = await server.call("PATCH", `/resume/${token}/fields`, { body: { ...ACTOR, fields } });
      statuses.push(status);
      token = (body.resumeToken as string | undefined) ?? token;
    }
    expect(statuses.at(0)).toBe(200);
    expect(statuses.at(-1)).toBe(413);
  });
});
