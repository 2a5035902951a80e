import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createRawServer, type Server as RawServer, type Socket } from "node:net";
import type { Receipt } from "@formbridge/core";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { createCourier } from "../src/index.ts";
import { keyOf } from "../src/webhook/signing.ts";
import { outgoingTo, SECRET, sendTo } from "./outgoing.ts";

const TIMEOUT_MS = 500;
const SLACK_MS = 4_000;

const servers: (Server | RawServer)[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  for (const socket of sockets) socket.destroy();
});

async function listen(server: Server | RawServer): Promise<string> {
  servers.push(server.listen(0, "127.0.0.1"));
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

const courierWith = (more: { now?: () => number; timeoutMs?: number } = {}) =>
  createCourier({ allowPrivate: true, timeoutMs: 10_000, ...more });

interface Caught {
  request: IncomingMessage;
  body: string;
}

/** A server that records requests and responds with `answer`. */
async function catcher(answer: RequestListener = (_, response) => void response.end()) {
  const caught: Caught[] = [];
  const url = await listen(
    createServer(async (request, response) => {
      caught.push({ request, body: Buffer.concat(await request.toArray()).toString("utf8") });
      answer(request, response);
    }),
  );
  return { url, caught };
}

const headersOf = ({ request }: Caught) => request.headers as Record<string, string>;

describe("what is sent", () => {
  it("[COURIER-WEBHOOK-SIGNED] is a POST of the body that the official verifier accepts, with each of the secrets", async () => {
    const { url, caught } = await catcher();
    const secrets = [SECRET, "an older secret, in words ☂", "whsec_not/base64!"];
    const receipt = await sendTo(courierWith(), { kind: "webhook", url: `${url}/hook?key=1` }, { secrets });
    expect(receipt).toMatchObject({ kind: "accepted" });
    const [one] = caught as [Caught];
    const outgoing = outgoingTo({ kind: "webhook", url });
    expect([one.request.method, one.request.url, one.body]).toEqual(["POST", "/hook?key=1", outgoing.body]);
    expect(headersOf(one)["webhook-signature"]?.split(" ")).toHaveLength(secrets.length);
    const receivers = [
      new Webhook(SECRET),
      new Webhook(`whsec_${Buffer.from("an older secret, in words ☂").toString("base64")}`),
      new Webhook(Buffer.from("whsec_not/base64!"), { format: "raw" }),
    ];
    for (const receiver of receivers)
      expect(receiver.verify(one.body, headersOf(one))).toEqual(JSON.parse(outgoing.body));
    expect(() => new Webhook("whsec_b3RoZXI=").verify(one.body, headersOf(one))).toThrow();
    expect(() => new Webhook(SECRET).verify(`${one.body} `, headersOf(one))).toThrow();
  });

  it("[COURIER-WEBHOOK-ID] has the delivery's id in every attempt, and the attempt's own time", async () => {
    const { url, caught } = await catcher();
    let now = Date.now();
    const courier = courierWith({ now: () => now });
    await sendTo(courier, { kind: "webhook", url });
    now += 60_000;
    await sendTo(courier, { kind: "webhook", url }, { attempt: 2 });
    const [first, second] = caught.map(headersOf);
    expect(first?.["webhook-id"]).toBe("dlv_0199-1");
    expect(second?.["webhook-id"]).toBe("dlv_0199-1");
    expect(Number(second?.["webhook-timestamp"]) - Number(first?.["webhook-timestamp"])).toBe(60);
    for (const one of caught) new Webhook(SECRET).verify(one.body, headersOf(one));
  });

  it("[COURIER-WEBHOOK-HEADERS] carries the destination's headers, and none of them replaces ours", async () => {
    const { url, caught } = await catcher();
    const headers = {
      Authorization: "Bearer mine",
      "X-Team": "orders",
      Host: "elsewhere.example",
      "Webhook-Id": "forged",
      "WEBHOOK-SIGNATURE": "v1,forged",
      "Content-Type": "text/plain",
      "Content-Length": "1",
      "Transfer-Encoding": "chunked",
      Connection: "upgrade",
      "User-Agent": "somebody",
      "Proxy-Authorization": "x",
    };
    expect(await sendTo(courierWith(), { kind: "webhook", url, headers })).toMatchObject({ kind: "accepted" });
    const [one] = caught as [Caught];
    expect(headersOf(one)).toMatchObject({
      authorization: "Bearer mine",
      "x-team": "orders",
      host: url.slice("http://".length),
      "webhook-id": "dlv_0199-1",
      "content-type": "application/json",
      "user-agent": "FormBridge",
    });
    expect(headersOf(one)["proxy-authorization"]).toBeUndefined();
    new Webhook(SECRET).verify(one.body, headersOf(one));
  });

  it("a login in the URL becomes Basic authentication, unless the headers say otherwise", async () => {
    const { url, caught } = await catcher();
    const withLogin = url.replace("//", "//us%40er:p%C3%A4ss@");
    await sendTo(courierWith(), { kind: "webhook", url: withLogin });
    await sendTo(courierWith(), { kind: "webhook", url: withLogin, headers: { authorization: "Bearer x" } });
    const basic = `Basic ${Buffer.from("us@er:päss").toString("base64")}`;
    expect(caught.map((one) => headersOf(one).authorization)).toEqual([basic, "Bearer x"]);
  });

  it("a secret is the bytes of its text, or with whsec_ the decoded base64", () => {
    expect([...keyOf("whsec_AQID")]).toEqual([1, 2, 3]);
    expect([...keyOf("whsec_AQ==")]).toEqual([1]);
    expect(keyOf("whsec_").toString()).toBe("whsec_");
    expect(keyOf("whsec_AQI").toString()).toBe("whsec_AQI");
    expect([...keyOf("ä")]).toEqual([0xc3, 0xa4]);
  });
});

describe("responses", () => {
  const answering = async (status: number, headers: Record<string, string> = {}): Promise<Receipt> => {
    const { url } = await catcher((_, response) => void response.writeHead(status, headers).end("detail"));
    return sendTo(courierWith({ now: () => Date.UTC(2026, 0, 1) }), { kind: "webhook", url });
  };

  it.each([200, 201, 202, 204, 299])("[COURIER-WEBHOOK-ANSWERS] %i accepts it", async (status) => {
    const said = status === 204 ? {} : { answer: "detail" };
    expect(await answering(status)).toEqual({ kind: "accepted", status, ...said });
  });

  it.each([400, 401, 404, 422, 500, 502])(
    "[COURIER-WEBHOOK-ANSWERS] %i does not, and may be retried",
    async (status) => {
      const error = `The webhook answered ${status}.`;
      expect(await answering(status, { "retry-after": "5" })).toEqual({
        kind: "failed",
        error,
        status,
        answer: "detail",
      });
    },
  );

  it("[COURIER-WEBHOOK-ANSWERS] 410 ends it", async () => {
    expect(await answering(410)).toMatchObject({ kind: "failed", final: true });
  });

  it.each([
    ["120", 120_000],
    ["0", 0],
    ["999999999999", 86_400_000],
    ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["Fri, 01 Jan 2027 00:00:00 GMT", 86_400_000],
    ["soon", undefined],
    ["-5", undefined],
  ])(
    "[COURIER-WEBHOOK-ANSWERS] Retry-After %j with 429 and 503 is respected, up to a day",
    async (retryAfter, retryAfterMs) => {
      for (const status of [429, 503]) {
        const receipt = await answering(status, { "retry-after": retryAfter });
        expect(receipt).toEqual({
          kind: "failed",
          error: expect.stringContaining(String(status)),
          status,
          answer: "detail",
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        });
      }
    },
  );

  it.each([301, 302, 303, 307, 308])("[COURIER-WEBHOOK-ANSWERS] %i is not followed", async (status) => {
    const { url: elsewhere, caught } = await catcher();
    const receipt = await answering(status, { location: `${elsewhere}/moved` });
    expect(receipt).toMatchObject({ kind: "failed", error: expect.stringContaining("Redirects are not followed") });
    expect(caught).toEqual([]);
  });

  it("a long response does not matter", async () => {
    const { url } = await catcher((_, response) => void response.end(Buffer.alloc(10_000_000, "x")));
    expect(await sendTo(courierWith(), { kind: "webhook", url })).toMatchObject({ kind: "accepted" });
  });
});

describe("[COURIER-TIME-OUT] a receiver that misbehaves", () => {
  const HEAD = "HTTP/1.1 200 OK\r\n";
  /** Keeps sending a little until the connection is gone. */
  const trickle = (socket: Socket, text: string, everyMs = 20) => {
    const timer = setInterval(() => socket.write(text), everyMs);
    socket.on("close", () => clearInterval(timer));
  };
  const misbehaviours: Record<string, (socket: Socket) => void> = {
    "says nothing": () => {},
    "closes at once": (socket) => socket.destroy(),
    "resets after the request": (socket) => socket.once("data", () => socket.resetAndDestroy()),
    "answers in a minute": (socket) => {
      const timer = setTimeout(() => socket.end(`${HEAD}content-length: 0\r\n\r\n`), 60_000);
      socket.on("close", () => clearTimeout(timer));
    },
    "stops in its status line": (socket) => void socket.write("HTTP/1.1 20"),
    "sends headers slowly and for ever": (socket) => {
      socket.write(HEAD);
      trickle(socket, "x-more: y\r\n");
    },
    "sends headers quickly and for ever": (socket) => {
      socket.write(HEAD);
      trickle(socket, `x-more: ${"y".repeat(4_000)}\r\n`, 1);
    },
    "sends its body slowly and for ever": (socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
      trickle(socket, "1\r\nx\r\n");
    },
    "breaks off in its body": (socket) => socket.end(`${HEAD}content-length: 100\r\n\r\nxx`),
    "goes on with 100s for ever": (socket) => trickle(socket, "HTTP/1.1 102 Processing\r\n\r\n"),
    "speaks something else": (socket) => void socket.write("220 mail.example ESMTP\r\n"),
  };

  it.each(Object.keys(misbehaviours))(
    "[COURIER-TIME-OUT] one that %s gives a failed receipt in time, and keeps no socket",
    async (name) => {
      const url = await listen(createRawServer((socket) => misbehaviours[name]?.(socket.resume())));
      const start = performance.now();
      const receipt = await sendTo(courierWith({ timeoutMs: TIMEOUT_MS }), { kind: "webhook", url });
      expect(receipt).toMatchObject({
        kind: "failed",
        error: expect.stringMatching(/^The webhook failed: .*\.$/),
      });
      expect(receipt).not.toHaveProperty("final");
      expect(performance.now() - start).toBeLessThan(TIMEOUT_MS + SLACK_MS);
      await expect.poll(() => sockets.size, { timeout: 15_000 }).toBe(0);
    },
  );
});

it("[COURIER-NO-SECRETS] the message of a failure contains no host, login, path, query, secret or header", async () => {
  const { url } = await catcher(
    (request, response) => void response.writeHead(500).end(JSON.stringify(request.headers)),
  );
  const closed = await listen(createRawServer((socket) => socket.destroy()));
  for (const base of [url, closed, "http://127.0.0.1:1", "https://nowhere.invalid"]) {
    const target = `${base.replace("//", "//login-secret:password-secret@")}/path-secret?query=query-secret`;
    const destination = { kind: "webhook", url: target, headers: { authorization: "header-secret" } } as const;
    const resolve = () => Promise.reject(new Error(`can't find ${target}`));
    const courier = createCourier({ allowPrivate: true, timeoutMs: 2_000, resolve });
    const receipt = await sendTo(courier, destination, { secrets: ["signing-secret"] });
    expect(receipt.kind).toBe("failed");
    // The receiver's response is kept separate from our own message; whoever stores it masks it.
    const { answer: _quoted, ...words } = receipt;
    expect(JSON.stringify(words)).not.toMatch(/secret|127\.0|nowhere/);
  }
});
