import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, listTools, type RawCall, requestBody, requestHeaders, rpc } from "../support/mcp-raw.ts";
import { eventsOf, idempotencyKey, until } from "../support/moves.ts";
import { AGENT } from "../support/submissions.ts";
import { createHostileWorld, type HostileWorld, stateOf } from "./hostile-world.ts";

let world: HostileWorld;
let before: unknown;
beforeAll(async () => {
  world = await createHostileWorld("intake");
  before = await stateOf(world);
});
afterAll(() => world.server.stop());

const write = () => ({ resumeToken: world.own.token, actor: AGENT, fields: { name: "changed" } });
const SET = "formbridge_alpha_set";

/** Refused with an error of JSON-RPC's or ours, and without any effect. */
async function expectRefused(what: string, call: RawCall, method = "tools/call"): Promise<number> {
  const { status, message, text } = await rpc(world.server.url, method, call);
  const error = message?.error;
  expect({ what, isError: error !== undefined, isOurs: status >= 500 }, text.slice(0, 500)).toEqual({
    what,
    isError: true,
    isOurs: false,
  });
  expect(await stateOf(world), what).toEqual(before);
  return error.code;
}

const asText = (body: unknown): RawCall => ({ raw: JSON.stringify(body) });
const good = () => JSON.parse(requestBody("tools/call", { params: { name: SET, arguments: write() } }));

describe("what is not a request", () => {
  it("[MCP-MALFORMED] malformed JSON is refused", async () => {
    const text = JSON.stringify(good());
    for (const raw of [
      "",
      "{",
      "nonsense",
      text.slice(0, -1),
      `${text}}`,
      text.replace('"', "'"),
      "\u0000",
      '"text"',
      "7",
      "null",
    ]) {
      await expectRefused(`body ${raw.slice(0, 20)}`, { raw });
    }
  });

  it("[MCP-MALFORMED] JSON that is not a request is refused", async () => {
    const { jsonrpc: _v, ...unversioned } = good();
    const { method: _m, ...nameless } = good();
    await expectRefused("no version", asText(unversioned));
    await expectRefused("no method", asText(nameless));
    for (const changed of [
      { jsonrpc: "1.0" },
      { id: null },
      { id: {} },
      { id: [1] },
      { id: true },
      { method: 7 },
      { method: "" },
      { params: [] },
      { params: "text" },
      { params: null },
    ]) {
      await expectRefused(JSON.stringify(changed), asText({ ...good(), ...changed }));
    }
  });

  it("[MCP-MALFORMED] a batch is refused as a whole", async () => {
    await expectRefused("a batch", asText([good(), good()]));
    await expectRefused("a batch of one", asText([good()]));
    await expectRefused("an empty batch", asText([]));
    await expectRefused("a batch of nonsense", asText([1, "text", null]));
  });

  it("[MCP-MALFORMED] a body that is too large is refused before it is read to the end", async () => {
    const fields = { name: "x".repeat(12_000_000) };
    const body = requestBody("tools/call", { params: { name: SET, arguments: { ...write(), fields } } });
    const reply = await rpc(world.server.url, "tools/call", { raw: body }).catch((error: unknown) => error);
    if (!(reply instanceof Error)) expect(reply).toMatchObject({ status: 413 });
    expect(await stateOf(world)).toEqual(before);
  });
});

describe("what does not fit together", () => {
  it("[MCP-MALFORMED] [MCP-DOOR] headers that contradict the body, or are missing, are refused", async () => {
    const params = { name: SET, arguments: write() };
    for (const headers of [
      { "mcp-protocol-version": "2025-11-25" },
      { "mcp-protocol-version": "1999-01-01" },
      { "mcp-method": "tools/list" },
      { "mcp-name": "formbridge_alpha_status" },
      { "content-type": "text/plain" },
      { origin: "https://evil.example" },
      { authorization: "Bearer fbk_nobody" },
      { authorization: "Basic bm8=" },
    ]) {
      const { status, text } = await rpc(world.server.url, "tools/call", {
        params,
        headers: headers as Record<string, string>,
      });
      expect({ headers, refused: status >= 400 && status < 500 }, text.slice(0, 300)).toEqual({
        headers,
        refused: true,
      });
      expect(await stateOf(world), JSON.stringify(headers)).toEqual(before);
    }
  });

  it("[MCP-MALFORMED] other methods of HTTP do nothing", async () => {
    for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
      const reply = await world.server.call(method, "/mcp", {
        headers: { accept: "application/json, text/event-stream" },
      });
      expect({ method, refused: reply.status >= 400 && reply.status < 500 }).toEqual({ method, refused: true });
    }
    expect(await stateOf(world)).toEqual(before);
  });

  it("[MCP-UNKNOWN] tools, resources, prompts and methods that do not exist", async () => {
    for (const name of [
      "nothing",
      "formbridge_gamma_set",
      "formbridge_alpha_erase",
      "formbridge__set",
      "__proto__",
      "",
    ]) {
      expect(await expectRefused(`tool ${name}`, { params: { name, arguments: write() } })).toBe(-32602);
    }
    for (const uri of [
      "formbridge://intakes/gamma",
      "formbridge://intakes/__proto__",
      "formbridge://intakes/alpha/nothing",
      `formbridge://submissions/${world.own.submissionId}`,
      "formbridge://submissions/sub_00000000-0000-7000-8000-000000000000",
      `formbridge://submissions/rtok_${"u".repeat(43)}`,
      "formbridge://submissions/../keys",
      "file:///etc/passwd",
      "nonsense",
      "",
    ]) {
      expect(await expectRefused(`resource ${uri}`, { params: { uri } }, "resources/read")).toBe(-32602);
    }
    for (const name of ["nothing", "__proto__"]) {
      expect(await expectRefused(`prompt ${name}`, { params: { name } }, "prompts/get")).toBe(-32602);
    }
    for (const method of ["nothing/at/all", "tools/erase", "initialize"]) {
      expect(await expectRefused(`method ${method}`, {}, method)).toBe(-32601);
    }
  });
});

describe("a client that disappears", () => {
  const fullRequest = (call: RawCall): string => {
    const body = requestBody("tools/call", call);
    const headers = { host: new URL(world.server.url).host, ...requestHeaders("tools/call", call) };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return `POST /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  const sendAndGo = (bytes: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(world.server.url);
      const socket = connect(Number(port), hostname, () => socket.write(bytes, () => socket.destroy()));
      socket.on("error", reject);
      socket.on("close", () => resolve());
    });

  const countWrites = async (): Promise<number> => {
    const events = await eventsOf(world.server, world.own.submissionId, "limit=1000");
    return events.filter(({ type }) => type === "field.updated").length;
  };

  it("[MCP-GONE] in the middle of its request has changed nothing", async () => {
    const whole = fullRequest({ params: { name: SET, arguments: write() } });
    for (const share of [0.2, 0.6, 0.99]) await sendAndGo(whole.slice(0, Math.floor(whole.length * share)));
    expect((await listTools(world.server.url)).length).toBeGreaterThan(0);
    expect(await stateOf(world)).toEqual(before);
  });

  it("[MCP-GONE] after its request finds the outcome by the same key, executed once", async () => {
    const args = { ...write(), idempotencyKey: idempotencyKey("gone") };
    const writes = await countWrites();
    await sendAndGo(fullRequest({ params: { name: SET, arguments: args } }));
    const { message } = await until(async () => {
      const reply = await callTool(world.server.url, SET, args);
      return reply.message?.result?.structuredContent?.error?.type === "locked" ? undefined : reply;
    });
    expect(message.result).toMatchObject({ structuredContent: { ok: true } });
    expect(await countWrites()).toBe(writes + 1);
  });
});
