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
const initialize = (protocolVersion: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "bare", version: "1" } },
  });
const INITIALIZE = initialize("2025-06-18");

async function connect(way: (typeof WAYS)[number], revision = "2025-06-18") {
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
  const answers = (): Loose[] =>
    text
      .split("\n")
      .filter((each) => each !== "")
      .map((each) => JSON.parse(each));
  const answerTo = (id: number | null): Loose => answers().find((message) => message.id === id);
  const send = (message: string) => input.write(`${message}\n`);
  send(initialize(revision));
  await until(() => answerTo(0));
  const answered = (id: number | null): Promise<Loose> => until(() => answerTo(id));
  return { ...line, input, send, answers, answerTo, answered };
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

  it("[AUDIT-P8] of 2 MB gets an error, and the next line is answered", async () => {
    const host = await connect(way);
    const before = await submissions();
    host.send(request(20, `"${"x".repeat(2_000_000)}"`));
    host.send(request(21, "1"));
    expect((await host.answered(21)).result.structuredContent.ok).toBe(true);
    const { error } = await host.answered(null);
    expect(error).toMatchObject({ code: -32600, data: { error: { type: "payload_too_large" } } });
    expect(host.answers().filter(({ id }) => id === null)).toHaveLength(1);
    expect(await submissions()).toBe(before + 1);
    host.finish();
    await host.ended;
  });

  it("[AUDIT-P8] that is no JSON gets -32700, and the next line is answered", async () => {
    const host = await connect(way);
    host.send('{"jsonrpc":"2.0","id":22,');
    expect((await host.answered(null)).error).toMatchObject({ code: -32700, message: expect.stringContaining("JSON") });
    host.send("");
    host.send(request(23, "1"));
    expect((await host.answered(23)).result.structuredContent.ok).toBe(true);
    host.finish();
    await host.ended;
  });

  it("[AUDIT-P8] with a batch is answered together in 2025-03-26, each message for itself", async () => {
    const host = await connect(way, "2025-03-26");
    const notice = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    host.send(`[${request(24, "1")},${notice},{"id":25},${request(26, "2")}]`);
    const batch: Loose[] = await until(() => host.answers().find((message) => Array.isArray(message)));
    expect(batch.map(({ id }) => id).toSorted()).toEqual([24, 25, 26]);
    expect(batch.find(({ id }) => id === 25).error.code).toBe(-32600);
    expect(batch.find(({ id }) => id === 26).result.structuredContent.ok).toBe(true);
    host.send("[]");
    expect((await host.answered(null)).error.code).toBe(-32600);
    host.send(request(27, "1"));
    expect((await host.answered(27)).result.structuredContent.ok).toBe(true);
    host.finish();
    await host.ended;
  });

  it("[AUDIT-P8] with too large a batch, or in another revision, is refused with an explanation", async () => {
    const host = await connect(way, "2025-03-26");
    const ping = '{"jsonrpc":"2.0","id":99,"method":"ping"}';
    host.send(`[${Array.from({ length: 21 }, () => ping).join(",")}]`);
    expect((await host.answered(null)).error.message).toContain("at most 20");
    host.finish();
    const newer = await connect(way);
    newer.send(`[${request(28, "1")}]`);
    expect((await newer.answered(null)).error.message).toContain("2025-03-26");
    newer.finish();
    await Promise.all([host.ended, newer.ended]);
  });

  it.each([
    ["resources/read", {}, "uri"],
    ["prompts/get", {}, "name"],
    ["prompts/get", { name: "fill_intake", arguments: { intakeId: 5 } }, "arguments"],
    ["tools/list", { cursor: 5 }, "cursor"],
  ])("[AUDIT-P8] %s with %o is -32602 with a readable message", async (method, params, named) => {
    const host = await connect(way);
    host.send(JSON.stringify({ jsonrpc: "2.0", id: 30, method, params }));
    const { error } = await host.answered(30);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(`${named} must be`) });
    expect(error.message).not.toContain("{");
    host.finish();
    await host.ended;
  });

  it.each([
    ["the host closes its side", (host: { input: PassThrough }) => host.input.end()],
    ["the process is told to end", (host: { finish(): void }) => host.finish()],
  ])("[MCP-STDIO-ANSWERED] is answered when %s right after it", async (_what, end) => {
    const host = await connect(way);
    host.send(request(11, "1"));
    // The line has been read, and its call is not made yet.
    await new Promise(setImmediate);
    end(host as never);
    await host.ended;
    expect(host.answerTo(11)?.result.structuredContent.ok).toBe(true);
  });

  it("[MCP-STDIO-ANSWERED] is answered without a line end, when the host closes its side right after it", async () => {
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
  expect(told).toContain("couldn't be reached");
  expect(told + noted.join(" ")).not.toContain(key);
  expect(noted.join(" ")).toContain("Bearer [key]");
});
