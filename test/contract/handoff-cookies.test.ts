import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOff, inLink, openSession, visit } from "../support/handoffs.ts";
import { type CallOptions, type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, DAY, expectError, expectNoToken, unchangedBy } from "../support/submissions.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
});
afterAll(() => server.stop());

const cookieOf = (reply: Reply): string => reply.headers["set-cookie"]?.split(";")[0] ?? "";

/** A browser that opened a link: it sends its cookie, and the Origin of the page it is on. */
async function browse(): Promise<{
  made: Loose;
  opened: Reply;
  call(method: string, suffix: string, options: CallOptions & { origin?: string }): Promise<Reply>;
}> {
  const made = await create(server, "forms");
  const opened = await openSession(
    server,
    await handOff(server, made.resumeToken),
    {},
    { headers: { origin: server.url } },
  );
  return {
    made,
    opened,
    call: (method, suffix, { origin, ...options }) =>
      server.call(method, `/submissions/${made.submissionId}${suffix}`, {
        ...options,
        headers: {
          cookie: `other=1; ${cookieOf(opened)}`,
          ...(origin !== undefined && { origin }),
          ...options.headers,
        },
      }),
  };
}

describe("the exchange", () => {
  it("[HANDOFF-EXCHANGE] gives a separate session; the link's id opens nothing else, and can be exchanged again", async () => {
    const { submissionId, resumeToken } = await create(server, "forms");
    const made = await handOff(server, resumeToken);
    const link = inLink(made.url);
    const first = await openSession(server, made, { carrier: "header" });
    const second = await openSession(server, made, { carrier: "header" });
    expect(new Set([link, first.body.session, second.body.session]).size).toBe(3);
    for (const key of [first.body.session, second.body.session]) {
      expect((await server.call("GET", `/submissions/${submissionId}`, { key })).status).toBe(200);
    }
    expectError(await server.call("GET", `/submissions/${submissionId}`, { key: link }), 404, "token_invalid");
    const path = `/submissions/${submissionId}/sessions`;
    for (const body of [{}, { code: "1" }, { email: "a@b.c" }, { session: link, code: "1", email: "a@b.c" }]) {
      expectError(await server.call("POST", path, { body }), 400, "bad_request");
    }
    expectError(await server.call("POST", path, { body: { session: "sess_short" } }), 400, "token_invalid");
    const many = [];
    for (let count = 0; count < 20; count++) many.push(await visit(server, made));
    const oldest = await server.call("GET", `/submissions/${submissionId}`, { key: first.body.session });
    expectError(oldest, 404, "token_invalid");
    expect((await many[0]?.call("GET", ""))?.status).toBe(200);
  });

  it("[HANDOFF-COOKIE] [HANDOFF-NO-TOKEN] sets a cookie that scripts and other sites can't reach, for this submission", async () => {
    const { made, opened } = await browse();
    expect(opened.status).toBe(201);
    expect(opened.body).not.toHaveProperty("session");
    expectNoToken(opened);
    const [pair = "", ...attributes] = opened.headers["set-cookie"]?.split("; ") ?? [];
    expect(pair).toMatch(/^formbridge_session=sess_[\w-]{43}$/);
    expect(attributes.toSorted()).toEqual([
      "HttpOnly",
      `Max-Age=${DAY / 1000}`,
      `Path=/submissions/${made.submissionId}`,
      "SameSite=Strict",
    ]);
  });

  it("[HANDOFF-COOKIE] behind a TLS proxy it is Secure, and knows the path that the proxy serves", async () => {
    const env = { FORMBRIDGE_TRUST_PROXY: "1", FORMBRIDGE_PUBLIC_URL: "https://forms.example/bridge/" };
    const proxied = await startTestServer({ store: "memory", env });
    await proxied.putIntake({ id: "forms" });
    const { submissionId, resumeToken } = await create(proxied, "forms");
    const made = await handOff(proxied, resumeToken);
    expect(made.url).toMatch(/^https:\/\/forms\.example\/bridge\/resume\//);
    const opened = await openSession(proxied, made, {}, { headers: { origin: "https://forms.example" } });
    expect(opened.headers["set-cookie"]).toContain(`Path=/bridge/submissions/${submissionId};`);
    expect(opened.headers["set-cookie"]?.split("; ")).toContain("Secure");
    const { host } = new URL(proxied.url);
    const ours = await openSession(proxied, made, {}, { headers: { origin: `https://${host}` } });
    expect(ours.status).toBe(201);
    const unsafe = await openSession(proxied, made, {}, { headers: { origin: `http://${host}` } });
    expectError(unsafe, 403, "forbidden");
    await proxied.stop();
  });

  it("[HANDOFF-HEADER] as a header it is returned once in the body, without a cookie", async () => {
    const { resumeToken } = await create(server, "forms");
    const reply = await openSession(server, await handOff(server, resumeToken), { carrier: "header" });
    expect(reply.headers).not.toHaveProperty("set-cookie");
    expect(reply.body.session).toMatch(/^sess_[\w-]{43}$/);
  });

  it("[HANDOFF-HEADER] [EMBED-CARRIERS] a page of another origin opens a link with a header, and then works in it", async () => {
    const { submissionId, resumeToken } = await create(server, "forms");
    const made = await handOff(server, resumeToken);
    const headers = { origin: "https://site.example" };
    const opened = await openSession(server, made, { carrier: "header" }, { headers });
    expect(opened.status).toBe(201);
    expect(opened.headers).not.toHaveProperty("set-cookie");
    const body = { fields: { name: "Ada" }, version: 1 };
    const wrote = await server.call("PATCH", `/submissions/${submissionId}/fields`, {
      key: opened.body.session,
      headers,
      body,
    });
    expect(wrote.status).toBe(200);
  });

  it("[HANDOFF-ORIGIN] a page of another origin can't plant a session on its visitor", async () => {
    const { resumeToken } = await create(server, "forms");
    const made = await handOff(server, resumeToken);
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1"]) {
      const reply = await openSession(server, made, {}, { headers: { origin } });
      expectError(reply, 403, "forbidden");
      expect(reply.headers).not.toHaveProperty("set-cookie");
    }
    expect((await openSession(server, made)).status).toBe(201);
  });
});

describe("with the cookie", () => {
  it("[HANDOFF-ORIGIN] reads need nothing more; a write needs the Origin of our own pages", async () => {
    const { made, call } = await browse();
    expect((await call("GET", "", {})).status).toBe(200);
    const body = { fields: { name: "Ada" }, version: 1 };
    for (const origin of [undefined, "https://evil.example", "null", "nonsense", `${server.url}.evil.example`]) {
      const reply = await unchangedBy(server, made.submissionId, () =>
        call("PATCH", "/fields", { body, ...(origin !== undefined && { origin }) }),
      );
      expectError(reply, 403, "forbidden");
    }
    const wrote = await call("PATCH", "/fields", { body, origin: server.url });
    expect([wrote.status, wrote.headers.etag]).toEqual([200, '"2"']);
    expectNoToken(wrote);
    const submit = { body: { idempotencyKey: "by-cookie", version: 2 }, origin: server.url };
    expect((await call("POST", "/submit", submit)).body.state).toBe("finalized");
  });

  it("[HANDOFF-ORIGIN] explicit credentials take precedence: a key or token beside the cookie needs no Origin", async () => {
    const { made, call } = await browse();
    const keyed = await call("GET", "", { key: server.adminKey });
    expect(keyed.body.resumeToken).toBe(made.resumeToken);
    const body = { actor: AGENT, fields: { name: "Ada" }, resumeToken: made.resumeToken };
    expect((await call("PATCH", "/fields", { body })).status).toBe(200);
  });

  it("[HANDOFF-COOKIE] the cookie of one submission opens no other, and nonsense in it is a 400", async () => {
    const { opened } = await browse();
    const other = await create(server, "forms");
    const at = `/submissions/${other.submissionId}`;
    expectError(await server.call("GET", at, { headers: { cookie: cookieOf(opened) } }), 404, "token_invalid");
    const broken = { cookie: "formbridge_session=sess_..%00" };
    expectError(await server.call("GET", at, { headers: broken }), 400, "token_invalid");
    const elsewhere = { cookie: "xformbridge_session=sess_1; other=formbridge_session=1" };
    expectError(await server.call("GET", at, { headers: elsewhere }), 401, "unauthorized");
  });

  it("[RUNNING-CLEAR-TEXT] over a connection that others can read, links, cookies and sessions are refused", async () => {
    const { made, opened } = await browse();
    const handoff = await handOff(server, made.resumeToken);
    const human = await visit(server, handoff);
    const { app } = server.server;
    const at = `/submissions/${made.submissionId}`;
    const origin = server.url;
    for (const request of [
      { method: "GET" as const, url: at, headers: { cookie: cookieOf(opened) } },
      { method: "GET" as const, url: at, headers: { authorization: `Bearer ${human.session}` } },
      { method: "GET" as const, url: handoff.url.slice(server.url.length) },
      { method: "GET" as const, url: `/resume?token=${made.resumeToken}` },
      {
        method: "POST" as const,
        url: `${at}/sessions`,
        payload: { session: inLink(handoff.url) },
        headers: { origin },
      },
      { method: "POST" as const, url: `/resume/${made.resumeToken}/handoffs`, payload: { actor: AGENT } },
    ]) {
      const reply = await app.inject({ remoteAddress: "203.0.113.7", ...request });
      expect([request.url, reply.statusCode, reply.headers["set-cookie"]]).toEqual([request.url, 403, undefined]);
    }
  });
});
