import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createGuard, type GuardOptions, pinnedLookup } from "../src/guard/create-guard.ts";
import { readTarget } from "../src/guard/read-target.ts";
import { createCourier } from "../src/index.ts";
import { createQueueCourier } from "../src/queue/queue-courier.ts";
import { createWebhookCourier } from "../src/webhook/webhook-courier.ts";
import { sendTo } from "./outgoing.ts";
import { LOOPBACK_HOSTS, QUEUE_SPELLINGS, WEBHOOK_SPELLINGS } from "./spellings.ts";

const PUBLIC = "93.184.215.14";
const never = new AbortController().signal;
const judge = (url: string, options: Partial<GuardOptions> = {}) =>
  createGuard({ allowPrivate: false, resolve: async () => [PUBLIC], ...options })(readTarget(new URL(url)), never);

describe("the corpus of spellings", () => {
  it("is large, and each is there once", () => {
    expect(new Set(WEBHOOK_SPELLINGS).size).toBeGreaterThan(500);
    expect(new Set(QUEUE_SPELLINGS).size).toBeGreaterThan(500);
  });

  it("[COURIER-GUARD] no spelling of a webhook's URL leads to a connection, or even to a lookup", async () => {
    const touched: string[] = [];
    const resolve = async (host: string) => {
      touched.push(`look-up of ${host}`);
      return [PUBLIC];
    };
    const courier = createWebhookCourier({
      guard: createGuard({ allowPrivate: false, resolve }),
      timeoutMs: 5_000,
      now: Date.now,
      post: async ({ url }) => {
        touched.push(`connection to ${url.href}`);
        return { status: 200 };
      },
    });
    for (const url of WEBHOOK_SPELLINGS) {
      expect(await sendTo(courier, { kind: "webhook", url }), url).toMatchObject({ kind: "failed", final: true });
    }
    expect(touched).toEqual([]);
  });

  it("[COURIER-GUARD] nor does one of a queue's URL", async () => {
    const judged: string[] = [];
    const resolve = async (host: string) => {
      judged.push(host);
      return [PUBLIC];
    };
    const strict = createGuard({ allowPrivate: false, resolve });
    const courier = createQueueCourier({
      timeoutMs: 5_000,
      idleMs: 1_000,
      async guard(target, signal) {
        judged.push(...(await strict(target, signal)).map(({ address }) => address));
        throw new Error("the guard let it pass");
      },
    });
    for (const url of QUEUE_SPELLINGS) {
      const receipt = await sendTo(courier, { kind: "queue", url, name: "orders" });
      expect(receipt, url).toMatchObject({ kind: "failed", final: true });
    }
    expect(judged).toEqual([]);
    await courier.close();
  });
});

describe("loopback, for real", () => {
  const canaries: Server[] = [];
  afterEach(() => {
    for (const canary of canaries.splice(0)) canary.close();
  });

  it("[COURIER-GUARD] a listener there sees no connection, however it is spelled", async () => {
    let seen = 0;
    const canary = createServer((socket) => {
      seen += 1;
      socket.destroy();
    }).listen(0);
    canaries.push(canary);
    await once(canary, "listening");
    const { port } = canary.address() as { port: number };
    const courier = createCourier({ timeoutMs: 5_000 });
    const schemes = ["http", "https", "amqp", "nats", "redis", "rediss", "tls"] as const;
    for (const host of LOOPBACK_HOSTS) {
      for (const scheme of schemes) {
        const url = `${scheme}://${host}:${port}/`;
        const kind = scheme.startsWith("http") ? "webhook" : "queue";
        expect(await sendTo(courier, { kind, url, name: "orders" }), url).toMatchObject({ kind: "failed" });
      }
    }
    expect(seen).toBe(0);
    // Check that the listener would have noticed a connection.
    const open = createCourier({ timeoutMs: 5_000, allowPrivate: true });
    await sendTo(open, { kind: "webhook", url: `http://127.0.0.1:${port}/` });
    expect(seen).toBe(1);
    await Promise.all([courier.close(), open.close()]);
  });
});

describe("names", () => {
  it("[COURIER-GUARD-PINNED] one bad address among good ones is enough to refuse", async () => {
    const bad = [
      "10.0.0.1",
      "127.0.0.1",
      "::1",
      "::ffff:10.0.0.1",
      "fe80::1%eth0",
      "169.254.169.254",
      "fd00::1",
      "0.0.0.0",
    ];
    for (const address of bad) {
      for (const found of [[address], [PUBLIC, address], [address, PUBLIC], [PUBLIC, "2606:4700::1", address]]) {
        await expect(judge("https://example.com/", { resolve: async () => found }), address).rejects.toThrow(
          /its name resolves to/,
        );
      }
    }
    await expect(judge("https://example.com/", { resolve: async () => [] })).rejects.toThrow(/no address/);
  });

  it("[COURIER-GUARD-PINNED] a name is resolved once, and where it points later does not matter", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.3"]];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return answers[asked.length - 1] ?? [];
    };
    const courier = createCourier({ allowPrivate: true, timeoutMs: 5_000, resolve });
    const receipt = await sendTo(courier, { kind: "webhook", url: `http://rebinding.example:${port}/` });
    expect(receipt).toMatchObject({ kind: "accepted" });
    expect(asked).toEqual(["rebinding.example"]);
    await courier.close();
    server.close();
  });

  it("a connector that resolves a name gets the checked addresses, in any form it asks for", () => {
    const lookup = pinnedLookup([
      { address: PUBLIC, family: 4 },
      { address: "2606:4700::1", family: 6 },
    ]);
    const got: unknown[] = [];
    lookup("elsewhere.example", { all: true }, (_, addresses) => got.push(addresses));
    lookup("elsewhere.example", {}, (_, address, family) => got.push([address, family]));
    expect(got).toEqual([
      [
        { address: PUBLIC, family: 4 },
        { address: "2606:4700::1", family: 6 },
      ],
      [PUBLIC, 4],
    ]);
  });

  it("a name that can't be resolved fails with an explanation, and may be retried", async () => {
    const resolve = () => Promise.reject(Object.assign(new Error("getaddrinfo secret"), { code: "ENOTFOUND" }));
    const courier = createCourier({ resolve });
    const receipt = await sendTo(courier, { kind: "webhook", url: "https://example.com/" });
    expect(receipt).toEqual({ kind: "failed", error: "The webhook failed: its host name is unknown." });
  });
});

describe("the operator's switch", () => {
  it("[COURIER-GUARD-SWITCH] opens the operator's own networks", async () => {
    const hosts = [
      "localhost",
      "127.0.0.1",
      "10.1.2.3",
      "[::1]",
      "[fd12::1]",
      "192.168.0.7",
      "169.254.7.7",
      "100.64.0.1",
    ];
    for (const host of hosts) {
      const found = await judge(`http://${host}/`, { allowPrivate: true, resolve: async () => ["127.0.0.1", "::1"] });
      expect(found.length, host).toBeGreaterThan(0);
    }
  });

  it("[COURIER-GUARD-SWITCH] but never metadata addresses, hidden addresses or reserved ones", async () => {
    const hosts = [
      "169.254.169.254",
      "[fd00:ec2::254]",
      "0.0.0.0",
      "[::ffff:10.0.0.1]",
      "[64:ff9b::a00:1]",
      "224.0.0.1",
    ];
    for (const host of hosts)
      await expect(judge(`http://${host}/`, { allowPrivate: true }), host).rejects.toThrow(/it is/);
    const metadata = { allowPrivate: true, resolve: async () => ["169.254.169.254"] };
    await expect(judge("http://metadata.google.internal/", metadata)).rejects.toThrow(/metadata/);
  });
});
