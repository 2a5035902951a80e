import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { parseJsonBody } from "@formbridge/core";
import { bridgeStdio, serveMcpStdio } from "@formbridge/mcp";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { VERSION } from "../../apps/server/src/version.ts";
import type { Loose, TestServer } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { emptyServer } from "./scene.ts";

let server: TestServer;
beforeAll(async () => {
  server = await emptyServer();
  await server.putIntake({ id: "open", schema: { type: "object", properties: { sum: { type: "number" } } } });
});
afterAll(() => server.stop());

const CREATE = "formbridge_open_create";
const request = (id: number, sum: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${CREATE}","arguments":{"initialFields":{"sum":${sum}}}}}`;

const WAYS = ["serves", "passes on"] as const;

/** One host on pipes; every line that it was sent is kept. */
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bare", version: "1" } },
});

async function connect(way: (typeof WAYS)[number]) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = "";
  output.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  const common = {
    input,
    output,
    maxMessageBytes: 1_000_000,
    parse: (line: Buffer) => parseJsonBody(line, { maxDepth: 64, maxKeys: 100 }),
    onError: () => {},
  };
  const line =
    way === "serves"
      ? serveMcpStdio({
          ...common,
          version: VERSION,
          binding: Promise.resolve(server.server.agents),
          caller: { address: "stdio" },
        })
      : await bridgeStdio({ ...common, url: `${server.url}/mcp` });
  const answerTo = (id: number): Loose =>
    text
      .split("\n")
      .filter((each) => each !== "")
      .map((each) => JSON.parse(each))
      .find((message) => message.id === id);
  const send = (message: string) => input.write(`${message}\n`);
  send(INITIALIZE);
  await until(() => answerTo(0));
  return { ...line, input, send, answerTo, answered: (id: number): Promise<Loose> => until(() => answerTo(id)) };
}

const submissions = async (): Promise<number> =>
  (await server.call("GET", "/submissions", { key: server.adminKey })).body.items.length;

describe.each(WAYS)("a line of a host that the command %s", (way) => {
  it.each([
    ["a number that would be rounded", "9007199254740993"],
    ["a lone surrogate", '"\\ud83d"'],
    ["too many names", `{${Array.from({ length: 200 }, (_, at) => `"k${at}":1`).join(",")}}`],
    ["a name that reaches a prototype", '{"__proto__":{"a":1}}'],
  ])("[MCP-STDIO-STRICT] with %s is refused, as over HTTP", async (_what, sum) => {
    const host = await connect(way);
    const before = await submissions();
    host.send(request(7, sum));
    expect((await host.answered(7)).error).toMatchObject({ code: -32700, data: { error: { type: "bad_request" } } });
    expect(await submissions()).toBe(before);
    host.send(request(8, "1"));
    expect((await host.answered(8)).result.structuredContent.ok).toBe(true);
    host.finish();
    await host.ended;
  });

  it("[MCP-STDIO-STRICT] that names itself and is no message gets an error", async () => {
    const host = await connect(way);
    host.send('{"jsonrpc":"2.0","id":9}');
    host.send('{"jsonrpc":"2.0","id":10,"method":"tools/call","params":"text"}');
    for (const id of [9, 10]) expect((await host.answered(id)).error.code).toBe(-32600);
    host.finish();
    await host.ended;
  });

  it.each([
    ["the host closes its side", (host: { input: PassThrough }) => host.input.end()],
    ["the process is told to end", (host: { finish(): void }) => host.finish()],
  ])("[MCP-STDIO-ANSWERED] is answered when %s right after it", async (_what, end) => {
    const host = await connect(way);
    host.send(request(11, "1"));
    // The line is with the reader, and its call is not yet made.
    await new Promise(setImmediate);
    end(host as never);
    await host.ended;
    expect(host.answerTo(11)?.result.structuredContent.ok).toBe(true);
  });

  it("[MCP-STDIO-ANSWERED] is answered without its end, when the host closes its side right behind it", async () => {
    const host = await connect(way);
    host.input.end(request(12, "1"));
    await host.ended;
    expect(host.answerTo(12)?.result.structuredContent.ok).toBe(true);
  });
});

it("[MCP-STDIO-ANSWERED] a host that closes its side before the server has started is answered, however long that takes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { promise: binding, resolve: started } = Promise.withResolvers<typeof server.server.agents>();
  const { ended } = serveMcpStdio({
    input,
    output,
    maxMessageBytes: 1_000_000,
    parse: (line) => JSON.parse(line.toString()),
    onError: () => {},
    version: VERSION,
    binding,
    caller: { address: "stdio" },
  });
  input.write(`${INITIALIZE}\n`);
  input.end(`${request(13, "1")}\n`);
  await new Promise(setImmediate);
  await vi.advanceTimersByTimeAsync(60_000);
  started(server.server.agents);
  await ended;
  expect(output.read().toString()).toContain('"id":13');
});

it("[MCP-BRIDGE] a server that answers with the key it was sent does not bring it to the host or the log", async () => {
  const key = `fbk_${"q".repeat(43)}`;
  const parrot = createServer((request, response) => response.writeHead(500).end(`${request.headers.authorization}`));
  await new Promise<void>((resolve) => parrot.listen(0, "127.0.0.1", resolve));
  const [input, output] = [new PassThrough(), new PassThrough()];
  let told = "";
  const noted: string[] = [];
  output.setEncoding("utf8").on("data", (more: string) => {
    told += more;
  });
  const bridge = await bridgeStdio({
    url: `http://127.0.0.1:${(parrot.address() as AddressInfo).port}/mcp`,
    key,
    input,
    output,
    maxMessageBytes: 1_000_000,
    parse: (line) => JSON.parse(line.toString()),
    onError: ({ message }) => noted.push(message),
  });
  input.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await bridge.ended;
  parrot.close();
  expect(told).toContain("could not be asked");
  expect(told + noted.join(" ")).not.toContain(key);
  expect(noted.join(" ")).toContain("Bearer [key]");
});
