import { inflateSync } from "node:zlib";
import jsqr from "jsqr";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOff, inLink, openSession, visit } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, expectError, filled, history, MINUTE, record, unchangedBy } from "../support/submissions.ts";

// A CommonJS module whose types say otherwise.
const jsQR = jsqr as unknown as typeof jsqr.default;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
});
afterAll(() => server.stop());

const make = (fields = {}): Promise<Loose> => create(server, "forms", { fields });

describe("making a hand-off", () => {
  it("[HANDOFF-KINDS] [HANDOFF-NO-ROTATION] returns link, app link and expiry, and keeps version and token", async () => {
    const made = await make();
    const { submissionId, resumeToken, version } = made;
    const usual = await handOff(server, resumeToken);
    expect(usual).toMatchObject({ ok: true, submissionId, version, resumeToken, kind: "session" });
    expect(usual.handoffId).toMatch(/^hof_/);
    expect(usual.url).toMatch(new RegExp(`^${server.url}/resume/${submissionId}\\?session=sess_[\\w-]{43}$`));
    expect(usual.deepLink).toBe(`formbridge://resume/${submissionId}?session=${inLink(usual.url)}`);
    expect(Date.parse(usual.expiresAt) - server.clock.now()).toBe(24 * 60 * MINUTE);
    const qr = await handOff(server, resumeToken, { kind: "qr" });
    expect(qr.url).toContain("?session=sess_");
    expect(Date.parse(qr.expiresAt) - server.clock.now()).toBe(15 * MINUTE);
    expect(qr.qr.svg).toMatch(/^<svg/);
    expect((await record(server, submissionId)).version).toBe(version);
    await filled(server, resumeToken, { name: "Ada" });
  });

  it("[HANDOFF-PATHS] by id, by token, and by key with a version", async () => {
    const { submissionId, resumeToken } = await make();
    const body = { actor: AGENT };
    const replies = [
      await server.call("POST", `/resume/${resumeToken}/handoffs`, { body }),
      await server.call("POST", `/submissions/${resumeToken}/handoffs`, { body }),
      await server.call("POST", `/submissions/${submissionId}/handoffs`, { body: { ...body, resumeToken } }),
      await server.call("POST", `/submissions/${submissionId}/handoffs`, {
        body,
        headers: { "if-match": `"${resumeToken}"` },
      }),
      await server.call("POST", `/submissions/${submissionId}/handoffs`, {
        key: server.adminKey,
        headers: { "if-match": '"1"' },
        body: {},
      }),
    ];
    for (const reply of replies) expect([reply.status, reply.headers.etag]).toEqual([201, `"${resumeToken}"`]);
    const ids = replies.map((reply) => reply.body.handoffId);
    for (const path of [`/resume/${resumeToken}/handoffs`, `/submissions/${resumeToken}/handoffs`]) {
      const list = await server.call("GET", path);
      expect(list.body.items.map((item: Loose) => item.handoffId)).toEqual(ids.toReversed());
    }
  });

  it("[HANDOFF-NO-ROTATION] is refused like a write: stale, locked, ended, without a version", async () => {
    const { submissionId, resumeToken } = await make();
    const next = await filled(server, resumeToken, { name: "Ada" });
    const at = `/resume/${resumeToken}/handoffs`;
    expectError(await server.call("POST", at, { body: { actor: AGENT } }), 409, "token_conflict");
    const byId = `/submissions/${submissionId}/handoffs`;
    expectError(await server.call("POST", byId, { key: server.adminKey, body: {} }), 428, "token_required");
    expectError(await server.call("POST", byId, { body: {} }), 428, "token_required");
    await server.call("DELETE", `/resume/${next.resumeToken}`, { body: {} });
    const late = await server.call("POST", byId, { key: server.adminKey, body: { version: 3 } });
    expectError(late, 410, "cancelled");
  });

  it("[HANDOFF-EVENT] [HANDOFF-AT-REST] the history records the link without its secret; so does the database", async () => {
    const { submissionId, resumeToken } = await make();
    const allowedActors = [{ kind: "human", id: "jane", name: "Jane Roe" }];
    const made = await handOff(server, resumeToken, { allowedActors, message: "a-secret-message" });
    const { session } = await visit(server, made);
    const event = (await history(server, submissionId)).at(-1);
    expect(event).toMatchObject({ type: "handoff.link_issued", actor: AGENT, version: 1 });
    expect(event.payload).toEqual({
      handoffId: made.handoffId,
      kind: "session",
      expiresAt: made.expiresAt,
      allowedActors: [{ kind: "human", id: "jane" }],
    });
    const all = await server.call("GET", `/submissions/${submissionId}/events?stream=all`, { key: server.adminKey });
    const secrets = [session, inLink(made.url), "a-secret-message"];
    for (const secret of secrets) expect(JSON.stringify(all.body)).not.toContain(secret);
    const atRest = await server.atRest();
    for (const secret of secrets) expect(atRest.includes(secret)).toBe(false);
  });

  it("[HANDOFF-DIRECT] carries the current token, for as long as it is current", async () => {
    const { submissionId, resumeToken, tokenExpiresAt } = await make();
    const direct = await handOff(server, resumeToken, { kind: "direct" });
    expect(direct.url).toBe(`${server.url}/resume/${submissionId}/${resumeToken}`);
    expect(direct.deepLink).toBe(`formbridge://resume/${resumeToken}`);
    expect(direct.expiresAt).toBe(tokenExpiresAt);
    const read = await server.call("GET", direct.url.slice(server.url.length));
    expect([read.status, read.body.submissionId]).toEqual([200, submissionId]);
    for (const extra of [{ expiresInMs: MINUTE }, { allowedActors: [AGENT] }, { message: "hi" }]) {
      const reply = await server.call("POST", `/resume/${resumeToken}/handoffs`, {
        body: { actor: AGENT, kind: "direct", ...extra },
      });
      expectError(reply, 400, "bad_request");
    }
    const { resumeToken: next } = await filled(server, resumeToken, { name: "Ada" });
    const list = await server.call("GET", `/resume/${next}/handoffs`);
    expect(list.body.items).toMatchObject([{ kind: "direct", status: "spent", sessions: [] }]);
    const revoke = await server.call("DELETE", `/resume/${next}/handoffs/${direct.handoffId}`, { body: {} });
    expectError(revoke, 409, "conflict");
    server.clock.advance(8 * 24 * 60 * MINUTE);
    const long = await create(server, "forms", { ttlMs: 100 * 24 * 60 * MINUTE });
    server.clock.advance(8 * 24 * 60 * MINUTE);
    const over = await server.call("POST", `/submissions/${long.submissionId}/handoffs`, {
      key: server.adminKey,
      body: { kind: "direct", version: 1 },
    });
    expectError(over, 409, "conflict");
  });

  it("[HANDOFF-TTL] a hand-off's time to live is within bounds, and within its submission's", async () => {
    const { resumeToken } = await make();
    const asked = (expiresInMs: number) =>
      server.call("POST", `/resume/${resumeToken}/handoffs`, { body: { actor: AGENT, expiresInMs } });
    for (const bad of [0, -1, MINUTE - 1, 30 * 24 * 60 * MINUTE + 1, 1.5]) {
      expectError(await asked(bad), 400, "bad_request");
    }
    expect(Date.parse((await asked(MINUTE)).body.expiresAt)).toBe(server.clock.now() + MINUTE);
    const short = await create(server, "forms", { ttlMs: 10 * MINUTE });
    const bounded = await handOff(server, short.resumeToken, { expiresInMs: 60 * MINUTE });
    expect(bounded.expiresAt).toBe(short.expiresAt);
  });

  it("[HANDOFF-MANY] 20 open ones are the limit; revoking one makes room", async () => {
    const { resumeToken } = await make();
    const all = [];
    for (let count = 0; count < 20; count++) all.push(await handOff(server, resumeToken));
    const again = () => server.call("POST", `/resume/${resumeToken}/handoffs`, { body: { actor: AGENT } });
    expectError(await again(), 409, "conflict");
    await server.call("DELETE", `/resume/${resumeToken}/handoffs/${all[0].handoffId}`, { body: {} });
    expect((await again()).status).toBe(201);
  });
});

describe("as an image", () => {
  /** The pixels of a PNG as we write it: 8 bits of grey, no filter. */
  function pixelsOf(png: Buffer): { size: number; rgba: Uint8ClampedArray } {
    const size = png.readUInt32BE(16);
    const length = png.readUInt32BE(33);
    const raw = inflateSync(png.subarray(41, 41 + length));
    const rgba = new Uint8ClampedArray(size * size * 4);
    for (let at = 0; at < size * size; at++) {
      const grey = raw[Math.floor(at / size) * (size + 1) + 1 + (at % size)] ?? 0;
      rgba.set([grey, grey, grey, 255], at * 4);
    }
    return { size, rgba };
  }

  /** The modules of an SVG as we write it: unit squares, one after another. */
  function drawn(svg: string): { size: number; rgba: Uint8ClampedArray } {
    const scale = 4;
    const modules = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
    const size = modules * scale;
    const rgba = new Uint8ClampedArray(size * size * 4).fill(255);
    let [x, y] = [0, 0];
    for (const [, move, first = "0", second = "0"] of svg.matchAll(/([Mm])(-?\d+)[ ,]?(-?\d+)h1v1/g)) {
      [x, y] = move === "M" ? [Number(first), Number(second)] : [x + Number(first), y + Number(second)];
      for (let dy = 0; dy < scale; dy++)
        for (let dx = 0; dx < scale; dx++) rgba.set([0, 0, 0, 255], ((y * scale + dy) * size + x * scale + dx) * 4);
    }
    return { size, rgba };
  }

  it("[HANDOFF-QR] SVG and PNG both contain the link, for every kind", async () => {
    const { resumeToken } = await make();
    const qr = await handOff(server, resumeToken, { kind: "qr" });
    const fromSvg = drawn(qr.qr.svg);
    expect(jsQR(fromSvg.rgba, fromSvg.size, fromSvg.size)?.data).toBe(qr.url);
    const png = await handOff(server, resumeToken, { kind: "qr", qrFormat: "png" });
    expect(png.qr).not.toHaveProperty("svg");
    const [head, data = ""] = png.qr.png.split(",");
    expect(head).toBe("data:image/png;base64");
    const fromPng = pixelsOf(Buffer.from(data, "base64"));
    expect(jsQR(fromPng.rgba, fromPng.size, fromPng.size)?.data).toBe(png.url);
    const session = await handOff(server, resumeToken, { qrFormat: "svg" });
    const third = drawn(session.qr.svg);
    expect(jsQR(third.rgba, third.size, third.size)?.data).toBe(session.url);
    expect(await handOff(server, resumeToken)).not.toHaveProperty("qr");
  });
});

describe("links", () => {
  it("[HANDOFF-LINK-FORMS] each form works, with hints or without", async () => {
    const { submissionId, resumeToken } = await make({ name: "Ada" });
    const hints = "hint=insurance&intake=elsewhere";
    for (const path of [
      `/resume/${resumeToken}?${hints}`,
      `/resume/${submissionId}/${resumeToken}?${hints}`,
      `/resume?token=${resumeToken}&${hints}`,
      `/resume?token=${resumeToken}`,
    ]) {
      const reply = await server.call("GET", path);
      expect([path, reply.status, reply.body.fields]).toEqual([path, 200, { name: "Ada" }]);
    }
    const { url } = await handOff(server, resumeToken);
    const path = `/submissions/${submissionId}/sessions`;
    const link = await server.call("GET", `${url.slice(server.url.length)}&${hints}`);
    expect(link.body).toEqual({ ok: true, submissionId, opensWith: "session", exchange: { method: "POST", path } });
    const code = await server.call("GET", `/resume/${submissionId}?code=1234`);
    expect(code.body).toMatchObject({ opensWith: "code", exchange: { path } });
    const other = await make();
    expectError(await server.call("GET", `/resume/${other.submissionId}/${resumeToken}`), 404, "token_invalid");
    expectError(await server.call("GET", "/resume?token=rtok_short"), 400, "token_invalid");
    expectError(await server.call("GET", "/resume"), 401, "unauthorized");
    expectError(await server.call("GET", "/resume/nonsense?session=x"), 400, "token_invalid");
  });

  it("[HANDOFF-GET-SPENDS-NOTHING] however often a link is opened by GET, it can still be exchanged", async () => {
    const { submissionId, resumeToken } = await make();
    const made = await handOff(server, resumeToken);
    await unchangedBy(server, submissionId, async () => {
      let last = await server.call("GET", made.url.slice(server.url.length));
      for (let count = 0; count < 5; count++) last = await server.call("GET", made.url.slice(server.url.length));
      return last;
    });
    expect((await openSession(server, made)).status).toBe(201);
  });
});

describe("who hands over", () => {
  it("[HANDOFF-HOLDERS] sessions, viewers and reviewers neither list nor revoke, and make none for others", async () => {
    const { submissionId, resumeToken } = await make();
    const made = await handOff(server, resumeToken);
    const human = await visit(server, made);
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" } });
    for (const key of [human.session, viewer]) {
      const at = `/submissions/${submissionId}/handoffs`;
      const allowedActors = [{ kind: "human", id: "somebody-else" }];
      expectError(await server.call("POST", at, { key, body: { version: 1, allowedActors } }), 403, "forbidden");
      expectError(await server.call("POST", at, { key, body: { version: 1, kind: "direct" } }), 403, "forbidden");
      expectError(await server.call("GET", at, { key }), 403, "forbidden");
      expectError(
        await server.call("DELETE", `${at}/${made.handoffId}`, { key, body: { version: 1 } }),
        403,
        "forbidden",
      );
      expectError(
        await server.call("POST", `/submissions/${submissionId}/tokens/reissue`, { key, body: {} }),
        403,
        "forbidden",
      );
    }
  });

  it("[HANDOFF-LIST] shows state and visitors, to token and key, and no secret", async () => {
    const { submissionId, resumeToken } = await make();
    const first = await handOff(server, resumeToken, { allowedActors: [{ type: "human", id: "jane" }] });
    const human = await visit(server, first);
    const second = await handOff(server, resumeToken, { kind: "qr" });
    await server.call("DELETE", `/resume/${resumeToken}/handoffs/${second.handoffId}`, { body: {} });
    const third = await handOff(server, resumeToken, { expiresInMs: MINUTE });
    server.clock.advance(2 * MINUTE);
    const list = await server.call("GET", `/submissions/${submissionId}/handoffs`, { key: server.adminKey });
    expect(list.body.items).toMatchObject([
      { handoffId: third.handoffId, kind: "session", status: "expired" },
      { handoffId: second.handoffId, kind: "qr", status: "revoked", revokedAt: expect.any(String) },
      {
        handoffId: first.handoffId,
        status: "open",
        allowedActors: [{ kind: "human", id: "jane" }],
        sessions: [{ actor: { kind: "human", id: "jane" } }],
      },
    ]);
    const byToken = await server.call("GET", `/resume/${resumeToken}/handoffs`);
    expect(byToken.body.items).toEqual(list.body.items);
    for (const secret of [inLink(first.url), human.session]) expect(JSON.stringify(list.body)).not.toContain(secret);
    await filled(server, resumeToken, { name: "Ada" });
    expectError(await server.call("GET", `/resume/${resumeToken}/handoffs`), 409, "token_conflict");
  });
});
