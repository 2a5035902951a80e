import { describe, expect, it } from "vitest";
import { ContractError } from "./error.ts";
import { parseJsonBody } from "./json-body.ts";

const LIMITS = { maxDepth: 64, maxKeys: 10_000 };
const parse = (text: string): unknown => parseJsonBody(Buffer.from(text), LIMITS);

function refusal(text: string): ContractError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ContractError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe("[AUDIT-F29] a member that is sent twice", () => {
  it.each([
    ['{"a":1,"a":1}', "a"],
    ['{"a":1,"b":{"c":[{"d":1},{"d":1,"d":2}]}}', "b.c.d"],
    ['{"fields":{"name":"x","na\\u006de":"y"}}', "fields.name"],
    ['{"a" : 1 ,\n"a"\t:\r\n2}', "a"],
    ['{"é":1,"\\u00e9":2}', "é"],
    ['{"":1,"":2}', ""],
    ['{"a":{"b":1},"a":{"c":1}}', "a"],
    ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
    ['{"__proto__x":1,"__proto__x":2}', "__proto__x"],
    ['{"1":1,"1":2}', "1"],
  ])("%s is refused as a bad request that names it", (text, path) => {
    const error = refusal(text);
    expect(error.type).toBe("bad_request");
    expect(error.message).toContain(JSON.stringify(path));
    expect(error.detail.fields).toEqual([expect.objectContaining({ path })]);
  });

  it.each([
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":":","b":"{\\"a\\":1,\\"a\\":2}","c":"\\\\","d":"\\\\\\":"}',
    '["a",":","a",":"]',
    '"a:b"',
    '{"a":"é\u{1f600}:","A":1}',
    "{}",
    "12",
  ])("%s, which has none, is read as it is", (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it("is noticed in whatever JSON.stringify writes, and only there", () => {
    const names = ["a", "b", '"', "\\", ":", "\\:", '":"', "{", "}", ",", "\n", "é"];
    for (const outer of names) {
      for (const inner of names) {
        const value = { [outer]: { [inner]: [outer, { [inner]: inner }] } };
        const text = JSON.stringify(value);
        expect(parse(text)).toEqual(value);
        const twice = text.replace(/\}\}$/, `,${JSON.stringify(inner)}:0}}`);
        expect(refusal(twice).message).toContain("more than once");
      }
    }
  });
});
