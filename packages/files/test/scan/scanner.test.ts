import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { inspect } from "node:util";
import { ScanFailed } from "@formbridge/core";
import { afterEach, describe, expect, it } from "vitest";
import { createScanner } from "../../src/index.ts";

const pieces = (count = 3, size = 100_000): Readable =>
  Readable.from(
    Array.from({ length: count }, () => Buffer.alloc(size, "x")),
    { objectMode: false },
  );
const scanWith = (code: string, timeoutMs = 10_000) =>
  createScanner({ kind: "command", argv: [process.execPath, "-e", code], timeoutMs }).scan({
    bytes: pieces(),
    sizeBytes: 300_000,
  });

describe("a command", () => {
  it("gets the whole file, and reports clean with 0", async () => {
    const code = `let n = 0; process.stdin.on("data", (d) => { n += d.length }).on("end", () => process.exit(n === 300000 ? 0 : 1))`;
    expect(await scanWith(code)).toEqual({ clean: true });
  });

  it("reports an infection with 1, in a line that is safe to record", async () => {
    const code = `console.log("stream: Eicar\\u001b[31m-Test FOUND\\nmore"); process.exitCode = 1`;
    expect(await scanWith(code)).toEqual({ clean: false, found: "stream: Eicar[31m-Test FOUND" });
  });

  it.each([
    ["ends otherwise", "process.exit(2)", 10_000],
    ["dies", "process.kill(process.pid, 'SIGKILL')", 10_000],
    ["takes too long", "setInterval(() => {}, 1000)", 300],
  ])("that %s has given no verdict", async (_name, code, timeoutMs) => {
    await expect(scanWith(code, timeoutMs)).rejects.toBeInstanceOf(ScanFailed);
  });

  it("that leaves child processes with its output open is not waited for", async () => {
    const scanner = createScanner({ kind: "command", argv: ["/bin/sh", "-c", "sleep 20; true"], timeoutMs: 200 });
    const began = performance.now();
    await expect(scanner.scan({ bytes: pieces(), sizeBytes: 300_000 })).rejects.toBeInstanceOf(ScanFailed);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it.each([["/nowhere/scan"], ["/bin/true"], ["/bin/false"]])(
    "releases the file, whatever it reports: %s",
    async (program) => {
      const bytes = pieces(100);
      await createScanner({ kind: "command", argv: [program], timeoutMs: 1000 })
        .scan({ bytes, sizeBytes: 10_000_000 })
        .catch(() => {});
      expect(bytes.destroyed).toBe(true);
    },
  );

  it("that does not exist gives no verdict", async () => {
    const scanner = createScanner({ kind: "command", argv: ["/nowhere/scan"], timeoutMs: 1000 });
    await expect(scanner.scan({ bytes: pieces(), sizeBytes: 300_000 })).rejects.toBeInstanceOf(ScanFailed);
  });

  it("never sees the end of an unreadable file", async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from("x");
        throw new Error("disk");
      })(),
    );
    const scanner = createScanner({
      kind: "command",
      argv: [process.execPath, "-e", "process.stdin.resume()"],
      timeoutMs: 9000,
    });
    await expect(scanner.scan({ bytes: broken, sizeBytes: 1 })).rejects.toBeInstanceOf(ScanFailed);
  });
});

describe("a URL", () => {
  const open: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of open.splice(0)) server.close().closeAllConnections();
  });
  async function ask(answer: RequestListener, timeoutMs = 10_000, login = "") {
    const server = createServer(answer).listen(0, "127.0.0.1");
    open.push(server);
    await once(server, "listening");
    const url = `http://${login}127.0.0.1:${(server.address() as AddressInfo).port}/scan`;
    return await createScanner({ kind: "url", url, timeoutMs }).scan({ bytes: pieces(), sizeBytes: 300_000 });
  }
  const saying =
    (status: number, body: string): RequestListener =>
    (request, response) => {
      let count = 0;
      request.on("data", (piece: Buffer) => {
        count += piece.length;
      });
      request.on("end", () => response.writeHead(count === 300_000 ? status : 500).end(body));
    };

  it("gets the whole file, and reports clean or infected", async () => {
    expect(await ask(saying(200, '{"clean":true}'))).toEqual({ clean: true });
    expect(await ask(saying(200, '{"clean":false,"found":"Eicar"}'))).toEqual({ clean: false, found: "Eicar" });
    expect(await ask(saying(200, '{"clean":false}'))).toEqual({ clean: false, found: "something harmful" });
  });

  it("is called with the login in the URL, which is in no error", async () => {
    const seen: (string | undefined)[] = [];
    const locked: RequestListener = (request, response) => {
      seen.push(request.headers.authorization, request.url);
      request.resume().on("end", () => response.writeHead(401).end());
    };
    const error = await ask(locked, 10_000, "scanner:p%40ss@").catch((thrown: Error) => thrown);
    expect(seen).toEqual([`Basic ${Buffer.from("scanner:p@ss").toString("base64")}`, "/scan"]);
    expect(String(error)).toContain("401");
    expect(inspect(error, { depth: 9 })).not.toMatch(/p%40ss|p@ss/);
  });

  it.each([
    ["an error", saying(500, '{"clean":true}')],
    ["nonsense", saying(200, "OK")],
    ["another answer", saying(200, '{"clean":"yes"}')],
    ["nothing", saying(200, "null")],
    ["another place", ((_request, response) => response.writeHead(302, { location: "/" }).end()) as RequestListener],
  ])("that says %s has given no verdict", async (_name, answer) => {
    await expect(ask(answer)).rejects.toBeInstanceOf(ScanFailed);
  });

  it("that is silent gives no verdict", async () => {
    await expect(ask(() => {}, 300)).rejects.toBeInstanceOf(ScanFailed);
  });
});
