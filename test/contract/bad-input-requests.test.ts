import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../support/child.ts";
import { type Loose, minimalIntake, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, everything, expectRefusal, parseRaw, sendRaw, setFields } from "../support/moves.ts";

let server: TestServer;
let mine: Loose;
let other: Loose;
let whole: unknown;

beforeAll(async () => {
  server = await startTestServer({ store: "memory" });
  await server.putIntake({ id: "forms" });
  mine = await created(server, "forms");
  other = await created(server, "forms");
  whole = await everything(server);
});
afterAll(() => server.stop());
afterEach(async (context) => {
  if (context.task.name.includes("[BAD-INPUT-NO-EFFECT]")) expect(await everything(server)).toEqual(whole);
});

const raw = async (first: string, headers = ""): Promise<Reply> =>
  parseRaw(await sendRaw(server.url, `${first} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n`));

describe("paths, methods and headers", () => {
  it("[BAD-INPUT-PATH] [BAD-INPUT-ENVELOPE] [BAD-INPUT-NO-EFFECT] an unknown path is a 404 with a request id", async () => {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      for (const path of ["/", "/nothing", "/resumes", "/intakes/forms/submissions/1/2", "/../etc/passwd", "//"]) {
        const reply = await server.call(method, path, { key: server.adminKey, headers: { "x-request-id": "mine-1" } });
        expectRefusal(reply, 404, "not_found");
        expect(reply.headers["x-request-id"]).toBe("mine-1");
      }
    }
  });

  it("[BAD-INPUT-PATH] [BAD-INPUT-ENVELOPE] [BAD-INPUT-NO-EFFECT] a malformed path is a 400 with a request id", async () => {
    for (const path of ["/submissions/%zz", "/resume/%ff", "/intakes/%E0%A4%A"]) {
      const reply = await raw(`GET ${path}`, "x-request-id: mine-2\r\n");
      expectRefusal(reply, 400, "bad_request");
      expect(reply.headers["x-request-id"]).toBe("mine-2");
    }
  });

  it("[BAD-INPUT-PATH] [BAD-INPUT-NO-EFFECT] broken encodings in a query are refused, not a 5xx", async () => {
    for (const query of ["intakeId=%ff", "createdBy=%ED%A0%80", "state=%zz", "limit=%00", "from=%ff"]) {
      const { status } = await raw(`GET /submissions?${query}`, `authorization: Bearer ${server.adminKey}\r\n`);
      expect(status).toBeLessThan(500);
    }
  });

  it.each([
    ["PUT", "/submissions", "GET"],
    ["DELETE", "/intakes", "GET"],
    ["POST", "/intakes/forms", "GET, PUT, DELETE"],
    ["GET", "/intakes/forms/submissions", "POST"],
    ["PATCH", "/keys", "POST, GET"],
    ["POST", "/healthz", "GET"],
    ["DELETE", "/openapi.json", "GET"],
  ])(
    "[BAD-INPUT-METHOD] [BAD-INPUT-NO-EFFECT] %s %s is a 405 that lists the supported methods",
    async (method, path, allowed) => {
      const reply = await server.call(method, path, { key: server.adminKey });
      expectRefusal(reply, 405, "method_not_allowed");
      expect(reply.headers.allow?.split(", ").sort()).toEqual(allowed.split(", ").sort());
    },
  );

  it.each(["TRACE", "PROPFIND", "SEARCH", "LOCK"])(
    "[BAD-INPUT-METHOD] [BAD-INPUT-ENVELOPE] [BAD-INPUT-NO-EFFECT] %s, which no path supports, is a 405",
    async (method) => {
      expectRefusal(await raw(`${method} /submissions`), 405, "method_not_allowed");
      expectRefusal(await raw(`${method} /resume/${mine.resumeToken}`), 405, "method_not_allowed");
    },
  );

  it("[BAD-INPUT-METHOD] [BAD-INPUT-ENVELOPE] [BAD-INPUT-NO-EFFECT] input that is not HTTP is a 400", async () => {
    expectRefusal(await raw("FETCH /submissions"), 400, "bad_request");
    expectRefusal(parseRaw(await sendRaw(server.url, "\x16\x03\x01\x02\x00\x01\r\n\r\n")), 400, "bad_request");
  });

  it("[BAD-INPUT-HEADERS] [BAD-INPUT-ENVELOPE] [BAD-INPUT-NO-EFFECT] a header block over 16 KiB is a 431", async () => {
    expectRefusal(await raw("GET /submissions", `x-long: ${"x".repeat(17_000)}\r\n`), 431, "headers_too_large");
    const many = (count: number): string =>
      Array.from({ length: count }, (_, index) => `x-header-${index}: value\r\n`).join("");
    expect((await raw("GET /healthz", many(700))).status).toBe(200);
    expectRefusal(await raw("GET /healthz", many(1200)), 431, "headers_too_large");
  });

  it("[BAD-INPUT-LIMITS-ARE-SETTINGS] size, depth, keys and headers can be set", async () => {
    const folder = tempFolder();
    const definition = { ...minimalIntake("forms"), schema: { type: "object" } };
    writeFileSync(join(folder.path, "forms.json"), JSON.stringify(definition));
    const small = await startTestServer({
      store: "memory",
      env: {
        FORMBRIDGE_INTAKES: folder.path,
        FORMBRIDGE_MAX_BODY_BYTES: "1000",
        FORMBRIDGE_MAX_DEPTH: "5",
        FORMBRIDGE_MAX_KEYS: "12",
        FORMBRIDGE_MAX_HEADER_BYTES: "2000",
      },
    });
    const withFields = (fields: Record<string, unknown>) => create(small, "forms", { body: { initialFields: fields } });
    expect((await withFields({ a: { b: { c: { d: 1 } } } })).status).toBe(201);
    expect((await withFields({ a: { b: { c: { d: { e: 1 } } } } })).status).toBe(400);
    expect((await withFields(Object.fromEntries([..."abcdefgh"].map((name) => [name, 1])))).status).toBe(201);
    expect((await withFields(Object.fromEntries([..."abcdefghi"].map((name) => [name, 1])))).status).toBe(400);
    expect((await withFields({ a: "x".repeat(1000) })).status).toBe(413);
    const answer = await sendRaw(small.url, `GET /healthz HTTP/1.1\r\nhost: x\r\nx-long: ${"x".repeat(3000)}\r\n\r\n`);
    expectRefusal(parseRaw(answer), 431, "headers_too_large");
    await small.stop();
    folder.remove();
  });

  it("[BAD-INPUT-UNKNOWN-MEMBER] [BAD-INPUT-NO-EFFECT] unknown members are named", async () => {
    const key = server.adminKey;
    const replies = [
      await create(server, "forms", { body: { initalFields: {} } }),
      await setFields(server, mine.resumeToken, {}, { body: { surprise: 1 } }),
      await server.call("POST", "/keys", { key, body: { name: "x", roles: ["agent"], actor: AGENT, surprise: 1 } }),
      await server.call("GET", "/submissions?surprise=1", { key }),
      await server.call("GET", `/submissions/${mine.submissionId}?surprise=1`, { key }),
    ];
    for (const reply of replies) {
      expectRefusal(reply, 400, "bad_request");
      expect(reply.body.error.message).toMatch(/initalFields|surprise/);
    }
  });
});

describe("tokens", () => {
  const unknown = `rtok_${"A".repeat(43)}`;

  it("[BAD-INPUT-TOKEN-MALFORMED] [BAD-INPUT-NO-EFFECT] a mangled token is a 400 in every place", async () => {
    const good: string = mine.resumeToken;
    for (const bad of [
      good.slice(0, -1),
      `${good}A`,
      good.replace("rtok_", "tok_"),
      good.toUpperCase(),
      "rtok_",
      `${good.slice(0, -1)}!`,
    ]) {
      expectRefusal(await server.call("GET", `/resume/${encodeURIComponent(bad)}`), 400, "token_invalid");
      expectRefusal(await setFields(server, encodeURIComponent(bad), { name: "x" }), 400, "token_invalid");
      const path = `/submissions/${mine.submissionId}/fields`;
      const fields = { actor: AGENT, fields: { name: "x" } };
      expectRefusal(await server.call("PATCH", path, { body: { ...fields, resumeToken: bad } }), 400, "token_invalid");
      expectRefusal(
        await server.call("PATCH", path, { body: fields, headers: { "if-match": `"${bad}"` } }),
        400,
        "token_invalid",
      );
    }
  });

  it("[BAD-INPUT-TOKEN-UNKNOWN] [BAD-INPUT-NO-EFFECT] a token that was never issued is a 404", async () => {
    expectRefusal(await server.call("GET", `/resume/${unknown}`), 404, "token_invalid");
    expectRefusal(await server.call("GET", `/resume/${unknown}/events`), 404, "token_invalid");
    expectRefusal(await setFields(server, unknown, { name: "x" }), 404, "token_invalid");
    expectRefusal(await server.call("DELETE", `/resume/${unknown}`), 404, "token_invalid");
  });

  it("[BAD-INPUT-TOKEN-ELSEWHERE] [BAD-INPUT-NO-EFFECT] a token of another submission reveals nothing of either", async () => {
    const path = `/submissions/${mine.submissionId}/fields`;
    const nowhere = `/submissions/sub_01977d3e-8c00-7000-8000-000000000001/fields`;
    const write = (where: string, token: string) =>
      server.call("PATCH", where, { body: { actor: AGENT, fields: { name: "x" }, resumeToken: token } });
    const replies = [
      await write(path, other.resumeToken),
      await write(path, unknown),
      await write(nowhere, other.resumeToken),
      await write(nowhere, unknown),
    ];
    for (const reply of replies) {
      expectRefusal(reply, 404, "token_invalid");
      expect(reply.body).toEqual(replies[1]?.body);
      expect(reply.headers.etag).toBeUndefined();
    }
  });

  it("[BAD-INPUT-TOKENS-DISAGREE] [BAD-INPUT-NO-EFFECT] two tokens that differ are a 400, whichever is right", async () => {
    const rotated = mine.resumeToken as string;
    const write = (path: string, where: { "if-match"?: string }, resumeToken?: string) =>
      server.call("PATCH", path, {
        headers: where as Record<string, string>,
        body: { actor: AGENT, fields: { name: "x" }, resumeToken },
      });
    for (const stranger of [other.resumeToken as string, unknown]) {
      expectRefusal(await write(`/resume/${rotated}/fields`, {}, stranger), 400, "bad_request");
      expectRefusal(await write(`/resume/${rotated}/fields`, { "if-match": stranger }), 400, "bad_request");
      expectRefusal(
        await write(`/submissions/${mine.submissionId}`, { "if-match": `"${rotated}"` }, stranger),
        400,
        "bad_request",
      );
      expectRefusal(
        await write(`/submissions/${rotated}`, { "if-match": `"v1-${stranger}"` }, rotated),
        400,
        "bad_request",
      );
    }
  });
});

describe("numbers, actors and keys", () => {
  it.each(["-1", "0", "1001", "99999999999999999999", "1.5", "ten", "", "1e9", "NaN"])(
    "[BAD-INPUT-LIMIT] [BAD-INPUT-NO-EFFECT] limit=%s is a 400 on every list",
    async (limit) => {
      for (const path of ["/submissions", "/events", "/intakes", "/keys", `/submissions/${mine.submissionId}/events`]) {
        expectRefusal(await server.call("GET", `${path}?limit=${limit}`, { key: server.adminKey }), 400, "bad_request");
      }
    },
  );

  it("[BAD-INPUT-NO-EFFECT] a parameter of another list is a 400", async () => {
    expectRefusal(await server.call("GET", "/keys?language=de", { key: server.adminKey }), 400, "bad_request");
  });

  it.each([-1, 0, 59_999, 31_536_000_001, Number.MAX_SAFE_INTEGER, 60_000.5, "60000", null, true])(
    "[BAD-INPUT-TTL] [BAD-INPUT-NO-EFFECT] ttlMs %s is a 400",
    async (ttlMs) => {
      expectRefusal(await create(server, "forms", { body: { ttlMs } }), 400, "bad_request");
    },
  );

  it("[BAD-INPUT-TTL] a minute and a year are within", async () => {
    for (const ttlMs of [60_000, 31_536_000_000])
      expect((await create(server, "forms", { body: { ttlMs } })).status).toBe(201);
    whole = await everything(server);
  });

  it("[BAD-INPUT-SYSTEM-ACTOR] [BAD-INPUT-NO-EFFECT] nobody can act as the system", async () => {
    const key = server.adminKey;
    for (const actor of [
      { kind: "system", id: "ttl_enforcer" },
      { type: "system", id: "ttl_enforcer" },
      { kind: "agent", type: "system", id: "x" },
      { kind: "SYSTEM", id: "x" },
      { id: "x" },
      { kind: "agent", id: "x", declared: false },
      { kind: "agent", id: "" },
    ]) {
      expectRefusal(await create(server, "forms", { body: { actor } }), 400, "bad_request");
      expectRefusal(await create(server, "forms", { key, body: { actor } }), 400, "bad_request");
      expectRefusal(await setFields(server, mine.resumeToken, { name: "x" }, { body: { actor } }), 400, "bad_request");
      expectRefusal(
        await server.call("POST", "/keys", { key, body: { name: "x", roles: ["agent"], actor } }),
        400,
        "bad_request",
      );
    }
  });

  it("[BAD-INPUT-BAD-KEY] [BAD-INPUT-NO-EFFECT] a bad key is a 401 everywhere, also on public paths", async () => {
    const bad = [
      "Bearer fbk_nonsense",
      `Bearer ${server.adminKey.slice(0, -1)}`,
      `Bearer ${server.adminKey}x`,
      "Bearer",
      "Bearer ",
      `Basic ${Buffer.from(`admin:${server.adminKey}`).toString("base64")}`,
      server.adminKey,
      `Bearer ${mine.resumeToken}`,
    ];
    for (const authorization of bad) {
      for (const [method, path] of [
        ["GET", "/submissions"],
        ["GET", `/submissions/${mine.submissionId}`],
        ["GET", "/intakes/forms"],
        ["POST", "/intakes/forms/submissions"],
        ["GET", `/resume/${mine.resumeToken}`],
        ["DELETE", `/resume/${mine.resumeToken}`],
      ] as const) {
        const body = method === "POST" ? { body: { actor: AGENT } } : {};
        const reply = await server.call(method, path, { headers: { authorization }, ...body });
        expectRefusal(reply, 401, "unauthorized");
        expect(reply.body.error.message).not.toContain(server.adminKey.slice(0, 12));
      }
    }
  });

  it("[BAD-INPUT-FOREIGN] what belongs to another tenant gets the same response as what does not exist, byte for byte", async () => {
    const theirKey = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" }, tenant: "acme" });
    await server.putIntake({ id: "closed", access: "key" });
    const hidden = await created(server, "closed", { key: server.adminKey });
    whole = await everything(server);
    const absent = "sub_01977d3e-8c00-7000-8000-000000000001";
    const pairs: [string, string, string, unknown?][] = [
      ["GET", `/submissions/${hidden.submissionId}`, `/submissions/${absent}`],
      ["GET", `/submissions/${hidden.submissionId}/events`, `/submissions/${absent}/events`],
      ["PATCH", `/submissions/${hidden.submissionId}`, `/submissions/${absent}`, { fields: { name: "x" }, version: 1 }],
      ["DELETE", `/submissions/${hidden.submissionId}`, `/submissions/${absent}`, {}],
      ["POST", `/submissions/${hidden.submissionId}/review`, `/submissions/${absent}/review`, { decision: "approved" }],
      ["POST", `/submissions/${hidden.submissionId}/tokens/revoke`, `/submissions/${absent}/tokens/revoke`, {}],
      ["POST", `/submissions/${hidden.submissionId}/tokens/reissue`, `/submissions/${absent}/tokens/reissue`, {}],
      ["POST", `/submissions/${hidden.submissionId}/deliveries/retry`, `/submissions/${absent}/deliveries/retry`, {}],
      ["GET", "/intakes/closed", "/intakes/not-there"],
      ["GET", "/intakes/closed/schema", "/intakes/not-there/schema"],
      ["DELETE", "/intakes/closed", "/intakes/not-there"],
      ["POST", "/intakes/closed/submissions", "/intakes/not-there/submissions", {}],
      ["GET", `/resume/${hidden.resumeToken}`, `/resume/rtok_${"A".repeat(43)}`],
    ];
    for (const [method, theirs, nowhere, body] of pairs) {
      const options = { key: theirKey, ...(body !== undefined && { body }) };
      const [foreign, none] = [await server.call(method, theirs, options), await server.call(method, nowhere, options)];
      expect([method, theirs, foreign.status]).toEqual([method, theirs, 404]);
      expect(foreign.body).toEqual(none.body);
    }
    expect(await everything(server)).toEqual(whole);
  });
});
