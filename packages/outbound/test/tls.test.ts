import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
  setDefaultCACertificates,
  TLSSocket,
} from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createCourier } from "../src/index.ts";
import { type Certificate, makeCertificate } from "./certificates.ts";
import { sendTo } from "./outgoing.ts";

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

let trusted: Certificate;
let stranger: Certificate;
beforeAll(() => {
  trusted = makeCertificate("receiver.example");
  stranger = makeCertificate("receiver.example");
  setDefaultCACertificates([...getCACertificates("default"), trusted.cert]);
});

interface Seen {
  /** The server names (SNI) that clients sent. */
  names: string[];
  /** What clients sent after verifying the server. */
  said: string[];
}

/** Accepts TLS as a server of this protocol would, and reads the first bytes. */
async function listen(scheme: string, certificate: Certificate): Promise<{ port: number; seen: Seen }> {
  const seen: Seen = { names: [], said: [] };
  const context: SecureContext = createSecureContext(certificate);
  const secure = (socket: Socket) => {
    const pick = (name: string, answer: (error: null, context: SecureContext) => void) => {
      seen.names.push(name);
      answer(null, context);
    };
    const inner = new TLSSocket(socket, { isServer: true, secureContext: context, SNICallback: pick as never });
    inner.on("error", () => {});
    inner.on("data", (part) => {
      seen.said.push(String(part));
      if (scheme !== "https") inner.destroy();
      else inner.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
  };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    // NATS starts in plain text and then switches to TLS.
    if (scheme === "tls")
      socket.write('INFO {"server_id":"x","version":"2.9.0","proto":1,"tls_required":true,"max_payload":1000}\r\n');
    secure(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  undo.push(() => server.close());
  return { port: (server.address() as { port: number }).port, seen };
}

describe.each(["https", "amqps", "tls", "rediss"])("%s", (scheme) => {
  const send = async (host: string, port: number) => {
    const courier = createCourier({ allowPrivate: true, timeoutMs: 20_000, resolve: async () => ["127.0.0.1"] });
    const kind = scheme === "https" ? "webhook" : "queue";
    const receipt = await sendTo(courier, { kind, url: `${scheme}://${host}:${port}/`, name: "orders" });
    await courier.close();
    return receipt;
  };

  it("[COURIER-TLS] the certificate is checked for the name in the URL, while the connection goes to the checked address", async () => {
    const { port, seen } = await listen(scheme, trusted);
    await send("receiver.example", port);
    expect(seen.names).toEqual(["receiver.example"]);
    expect(seen.said.join("")).not.toBe("");
  });

  it("[COURIER-TLS] nothing is sent if the certificate is not trusted, or is for another name", async () => {
    const cases = [
      { certificate: stranger, host: "receiver.example" },
      { certificate: trusted, host: "other.example" },
      { certificate: trusted, host: "127.0.0.1" },
    ];
    for (const { certificate, host } of cases) {
      const { port, seen } = await listen(scheme, certificate);
      expect(await send(host, port), host).toMatchObject({
        kind: "failed",
        error: expect.stringContaining("certificate"),
      });
      expect(seen.said).toEqual([]);
    }
  });
});
