import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, created, everything, expectRefusal, parseRaw, sendRaw, setFields } from "../support/moves.ts";

let server: TestServer;
let id: string;
let token: string;
let whole: unknown;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms", schema: { type: "object" } });
  const made = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
  id = made.submissionId;
  token = made.resumeToken;
  whole = await everything(server);
});
afterAll(() => server.stop());
afterEach(async (context) => {
  if (context.task.name.includes("[BAD-INPUT-NO-EFFECT]")) expect(await everything(server)).toEqual(whole);
});

/** The same bytes as the body of every call that accepts one. */
const targets = (): [string, string][] => [
  ["POST", "/intakes/forms/submissions"],
  ["PATCH", `/resume/${token}/fields`],
  ["PATCH", `/submissions/${id}`],
  ["POST", `/resume/${token}/validate`],
  ["POST", `/resume/${token}/submit`],
  ["DELETE", `/resume/${token}`],
  ["POST", `/submissions/${id}/review`],
  ["POST", `/submissions/${id}/tokens/revoke`],
  ["PUT", "/intakes/forms"],
  ["POST", "/keys"],
];
async function everywhere(raw: string | Buffer, headers: Record<string, string> = {}): Promise<Reply[]> {
  const key = server.adminKey;
  return await Promise.all(targets().map(([method, path]) => server.call(method, path, { raw, headers, key })));
}

describe("bodies", () => {
  it.each([
    ["half an object", '{"actor":'],
    ["two objects", "{}{}"],
    ["a comment", "{/* no */}"],
    ["NaN", '{"ttlMs":NaN}'],
    ["a byte order mark", "\uFEFF{}"],
    ["an array", "[]"],
    ["null", "null"],
    ["a string", '"{}"'],
    ["a number", "42"],
  ])("[BAD-INPUT-BROKEN-JSON] [BAD-INPUT-NO-EFFECT] a body with %s is a 400 everywhere", async (_what, raw) => {
    for (const reply of await everywhere(raw)) expectRefusal(reply, 400, "bad_request");
  });

  it("[AUDIT-F29] [BAD-INPUT-NO-EFFECT] a member that is sent twice is a 400 everywhere, and named", async () => {
    for (const reply of await everywhere('{"actor":{"kind":"agent","id":"a","id":"b"}}')) {
      expectRefusal(reply, 400, "bad_request");
      expect(reply.body.error.message).toContain('"actor.id"');
    }
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/merge-patch+json",
    "application/xml",
    "application/jsonx",
    "nonsense",
    ";",
  ])("[BAD-INPUT-CONTENT-TYPE] [BAD-INPUT-NO-EFFECT] a body of type %s is a 415 everywhere", async (type) => {
    for (const reply of await everywhere("{}", { "content-type": type }))
      expectRefusal(reply, 415, "unsupported_media_type");
  });

  it("[BAD-INPUT-CONTENT-TYPE] [BAD-INPUT-NO-EFFECT] a body without a type is a 415", async () => {
    const head = `PATCH /resume/${token}/fields HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n`;
    expectRefusal(parseRaw(await sendRaw(server.url, `${head}{}`)), 415, "unsupported_media_type");
  });

  it("[BAD-INPUT-TOO-LARGE] [BAD-INPUT-NO-EFFECT] a 2 MB body is a 413 everywhere", async () => {
    const raw = JSON.stringify({ fields: { note: "x".repeat(2_000_000) } });
    for (const reply of await everywhere(raw)) expectRefusal(reply, 413, "payload_too_large");
  });

  it("[BAD-INPUT-TOO-LARGE] [BAD-INPUT-NO-EFFECT] a 2 MB body of unannounced length is a 413", async () => {
    const body = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 20; part++) controller.enqueue(new TextEncoder().encode(`"${"x".repeat(100_000)}"`));
        controller.close();
      },
    });
    const init = { method: "PATCH", body, duplex: "half", headers: { "content-type": "application/json" } };
    const response = await fetch(`${server.url}/resume/${token}/fields`, init as RequestInit);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ ok: false, error: { type: "payload_too_large" } });
  });

  it("[BAD-INPUT-TOO-LARGE] a body of exactly 1 MiB is still read", async () => {
    const made = await created(server, "forms");
    const path = `/resume/${made.resumeToken}/fields`;
    const bodyOf = (length: number): string => {
      const frame = (note: string): string => JSON.stringify({ actor: AGENT, fields: { note } });
      return frame("x".repeat(length - frame("").length));
    };
    expect((await server.call("PATCH", path, { raw: bodyOf(1_048_577) })).status).toBe(413);
    expect((await server.call("PATCH", path, { raw: bodyOf(1_048_576) })).status).toBe(200);
    whole = await everything(server);
  });

  it("[BAD-INPUT-TOO-DEEP] a body of depth 64 is read, one of 65 is not", async () => {
    const made = await created(server, "forms");
    const path = `/resume/${made.resumeToken}/fields`;
    const bodyOf = (depth: number): string => {
      const inner = depth - 2;
      return `{"actor":${JSON.stringify(AGENT)},"fields":{"a":${"[".repeat(inner)}1${"]".repeat(inner)}}}`;
    };
    expect((await server.call("PATCH", path, { raw: bodyOf(65) })).status).toBe(400);
    expect((await server.call("PATCH", path, { raw: bodyOf(64) })).status).toBe(200);
    whole = await everything(server);
  });

  it.each([
    ["objects", '{"a":', "1", "}"],
    ["arrays", "[", "1", "]"],
  ])(
    "[BAD-INPUT-TOO-DEEP] [BAD-INPUT-NO-EFFECT] 200 nested %s are a 400 everywhere",
    async (_what, open, middle, close) => {
      const nested = open.repeat(200) + middle + close.repeat(200);
      for (const name of ["fields", "initialFields", "actor", "schema", "reason"]) {
        for (const reply of await everywhere(`{"${name}":${nested}}`)) expectRefusal(reply, 400, "bad_request");
      }
    },
  );

  it("[BAD-INPUT-TOO-DEEP] [BAD-INPUT-NO-EFFECT] half a million brackets within the size limit are a 400", async () => {
    for (const reply of await everywhere(`${"[".repeat(500_000)}${"]".repeat(500_000)}`)) {
      expectRefusal(reply, 400, "bad_request");
    }
  });

  it("[BAD-INPUT-TOO-MANY-KEYS] [BAD-INPUT-NO-EFFECT] 100,000 keys are a 400 everywhere", async () => {
    const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [index.toString(36), 1]));
    const raw = JSON.stringify({ fields });
    expect(raw.length).toBeLessThan(1_048_576);
    for (const reply of await everywhere(raw)) expectRefusal(reply, 400, "bad_request");
  });

  it("[BAD-INPUT-UTF8] [BAD-INPUT-NO-EFFECT] invalid UTF-8 is a 400 everywhere", async () => {
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80]]) {
      const raw = Buffer.concat([Buffer.from('{"fields":{"name":"'), Buffer.from(bytes), Buffer.from('"}}')]);
      for (const reply of await everywhere(raw)) expectRefusal(reply, 400, "bad_request");
    }
  });

  it.each([
    ["value", '{"fields":{"name":"\\ud800"}}'],
    ["name", '{"fields":{"\\udfff":1}}'],
    ["member of an array", '{"fields":{"list":["\\ud83d"]}}'],
    ["actor", '{"actor":{"kind":"agent","id":"\\ud800"}}'],
  ])("[BAD-INPUT-SURROGATE] [BAD-INPUT-NO-EFFECT] a lone surrogate as %s is a 400 everywhere", async (_where, raw) => {
    for (const reply of await everywhere(raw)) expectRefusal(reply, 400, "bad_request");
  });

  it("[BAD-INPUT-SURROGATE] a pair of surrogates is an ordinary letter", async () => {
    const made = await created(server, "forms");
    const path = `/resume/${made.resumeToken}/fields`;
    const reply = await server.call("PATCH", path, {
      raw: '{"actor":{"kind":"agent","id":"b"},"fields":{"name":"\\ud83c\\udf88"}}',
    });
    expect([reply.status, reply.body.fields.name]).toEqual([200, "🎈"]);
    whole = await everything(server);
  });

  it.each([
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890",
    "1e400",
    "-1E400",
    "0.12345678901234567890123",
    "9007199254740992.5",
    "1e-400",
  ])("[BAD-INPUT-NUMBER] [BAD-INPUT-NO-EFFECT] the number %s is a 400 everywhere", async (number) => {
    for (const value of [number, `[${number}]`, `{"deep":${number}}`]) {
      for (const reply of await everywhere(`{"fields":{"name":${value}}}`)) expectRefusal(reply, 400, "bad_request");
    }
  });

  it.each([
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992],
    ["0.1", 0.1],
    ["1.50", 1.5],
    ["1e21", 1e21],
    ["1E+2", 100],
    ["-0.0005", -0.0005],
    ["5e-324", 5e-324],
  ])("[BAD-INPUT-NUMBER] the number %s is kept", async (text, kept) => {
    const made = await created(server, "forms");
    const raw = `{"actor":{"kind":"agent","id":"b"},"fields":{"n":${text}}}`;
    const reply = await server.call("PATCH", `/resume/${made.resumeToken}/fields`, { raw });
    expect([reply.status, reply.body.fields?.n]).toEqual([200, kept]);
    whole = await everything(server);
  });
});

describe("reserved names", () => {
  const names = ["__proto__", "prototype", "constructor"];

  it.each(names)(
    "[BAD-INPUT-PROTOTYPE] [BAD-INPUT-NO-EFFECT] %s as a member is a 400 everywhere, at every depth",
    async (name) => {
      const evil = `{"${name}":{"polluted":true}}`;
      const bodies = [
        evil,
        `{"fields":${evil}}`,
        `{"initialFields":{"a":{"b":[${evil}]}}}`,
        `{"actor":{"kind":"agent","id":"b","metadata":${evil}}}`,
        `{"schema":{"type":"object","properties":${evil}}}`,
        `{"destination":${evil}}`,
        `{"fields":{"${name.replace("o", "\\u006f")}":1}}`,
      ];
      for (const raw of bodies) for (const reply of await everywhere(raw)) expectRefusal(reply, 400, "bad_request");
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    },
  );

  it.each(names)("[BAD-INPUT-PROTOTYPE] [BAD-INPUT-NO-EFFECT] %s as a segment of a path is a 400", async (name) => {
    for (const path of [`${name}.a`, `a.${name}`, `a.${name}.b`, `name.${name}.x`]) {
      expectRefusal(await setFields(server, token, { [path]: 1 }), 400, "bad_request");
      const body = { actor: AGENT, initialFields: { [path]: 1 } };
      expectRefusal(await server.call("POST", "/intakes/forms/submissions", { body }), 400, "bad_request");
    }
  });

  it.each([...names, "toString", "hasOwnProperty"])(
    "[BAD-INPUT-PROTOTYPE] [BAD-INPUT-NO-EFFECT] %s in a URL finds nothing and breaks nothing",
    async (name) => {
      const key = server.adminKey;
      const expected: [string, number][] = [
        [`/intakes/${name}`, 404],
        [`/intakes/${name}/schema`, 404],
        [`/submissions/${name}`, 404],
        [`/submissions/${name}/events`, 404],
        [`/resume/${name}`, 400],
        [`/submissions?${name}=1`, 400],
        [`/submissions?state=${name}`, 400],
        [`/submissions?pageToken=${name}`, 400],
        [`/submissions/${id}?${name}=1`, 400],
        [`/submissions/${id}/events?types=${name}`, 400],
        [`/submissions/${id}/events?stream=${name}`, 400],
        [`/events?types=${name}`, 400],
        [`/${name}`, 404],
      ];
      const replies = await Promise.all(expected.map(([path]) => server.call("GET", path, { key })));
      expect(replies.map(({ status }, index) => [expected[index]?.[0], status])).toEqual(expected);
      expect((await server.call("DELETE", `/keys/${name}`, { key })).status).toBe(404);
      expect((await server.call("POST", `/intakes/${name}/submissions`, { key, body: {} })).status).toBe(404);
    },
  );
});
