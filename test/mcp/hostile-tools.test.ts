import { isDeepStrictEqual } from "node:util";
import { ERROR_TYPES } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../support/harness.ts";
import { callTool, type RawCall, type RawReply, rpc } from "../support/mcp-raw.ts";
import { type HostileCase, hostileCases, UNKNOWN_TOKEN } from "./hostile-cases.ts";
import { createHostileWorld, goodArguments, type HostileWorld, stateOf } from "./hostile-world.ts";

/** What is wrong with a refusal, if anything. */
function problemsOf({ status, message, text }: RawReply): string[] {
  const result = message?.result;
  // Invalid arguments or JSON are refused before there is a call.
  if (message?.error?.code === -32602 || (status === 400 && message?.error?.code === -32700)) return [];
  if (result === undefined) return [`no result: ${status} ${text.slice(0, 300)}`];
  const { isError, structuredContent: body, content } = result;
  if (isError !== true) return [`it was taken: ${JSON.stringify(body).slice(0, 300)}`];
  const { type, message: words, retryable } = body?.error ?? {};
  return [
    ...(status === 200 ? [] : [`status ${status}`]),
    ...(body?.ok === false && Object.hasOwn(ERROR_TYPES, type) ? [] : [`not the envelope: ${text.slice(0, 300)}`]),
    ...(type === "internal_error" ? [`our mistake: ${text.slice(0, 300)}`] : []),
    ...(typeof words === "string" && typeof retryable === "boolean" ? [] : ["no words"]),
    ...(JSON.stringify(JSON.parse(content?.[0]?.text)) === JSON.stringify(body) ? [] : ["text and content differ"]),
    ...(/secret of (others|foreign)/.test(text) ? ["it tells a secret"] : []),
  ];
}

const AT_ONCE = 4;
async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = [...items];
  const one = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** A proposed idempotency key is a new one each time. */
const withoutKeys = (message: unknown): unknown =>
  JSON.parse(JSON.stringify(message).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "a-key"));

describe.each(["intake", "generic"] as const)("with the tools of each %s", (toolset) => {
  let world: HostileWorld;
  beforeAll(async () => {
    world = await createHostileWorld(toolset);
  });
  afterAll(() => world.server.stop());

  const send = ({ tool, args }: HostileCase, headers = {}): Promise<RawReply> =>
    callTool(world.server.url, tool, args, { headers });

  it("[MCP-ARGUMENTS] [MCP-OWN-INTAKE] every tool refuses every argument that is missing, wrong, too large or another's, and nothing changes", {
    timeout: 120_000,
  }, async () => {
    const before = await stateOf(world);
    const cases = hostileCases(world);
    const unknown = new Map<string, string>();
    const found: string[] = [];
    await inTurns(cases, async (one) => {
      const reply = await send(one);
      const said = JSON.stringify(reply.message);
      const problems = problemsOf(reply);
      if (one.what === "an unknown token") unknown.set(one.tool, said);
      // Unusual enough to be handled by the SDK, which responds the same.
      const twin = await send(one, { "content-type": "application/json; charset=utf-8" });
      if (!isDeepStrictEqual(withoutKeys(twin.message), withoutKeys(reply.message)))
        problems.push(`answered otherwise by the SDK: ${twin.text}`);
      found.push(...problems.map((problem) => `${one.tool}, ${one.what}: ${problem}`));
    });
    for (const one of cases.filter(({ likeUnknown }) => likeUnknown)) {
      const { message } = await send(one);
      if (JSON.stringify(message) !== unknown.get(one.tool)) found.push(`${one.tool}, ${one.what}: told apart`);
    }
    expect(found.slice(0, 20)).toEqual([]);
    expect(cases.length).toBeGreaterThan(500);
    expect(await stateOf(world)).toEqual(before);
  });

  it("the calls without the injected fault are valid", async () => {
    const refused: string[] = [];
    for (const tool of world.tools) {
      // Nobody has sent the file, announced one for this submission, or submitted it.
      if (/confirm|abandon|retry/.test(tool.name)) continue;
      const fresh = await world.server.call("POST", "/intakes/alpha/submissions", {
        body: { actor: { kind: "agent", id: "bot" }, initialFields: { name: "fresh" } },
      });
      const own = { ...world.own, token: fresh.body.resumeToken, submissionId: fresh.body.submissionId };
      const { message, text } = await callTool(world.server.url, tool.name, goodArguments({ ...world, own }, tool));
      if (message?.result?.isError === true || message?.result === undefined) refused.push(`${tool.name}: ${text}`);
    }
    expect(refused).toEqual([]);
  });

  it("[MCP-TOOLS] the list is the same by the SDK, in every revision", async () => {
    const odd = { "content-type": "application/json; charset=utf-8" };
    const older = { "mcp-protocol-version": "2025-11-25" };
    const raw = JSON.stringify({ jsonrpc: "2.0", id: "a", method: "tools/list" });
    const list = (call: RawCall): Promise<RawReply> => rpc(world.server.url, "tools/list", call);
    const [plain, bySdk] = [await list({}), await list({ headers: odd })];
    expect(plain.message).toEqual(bySdk.message);
    expect(plain.message.result.tools.length).toBeGreaterThan(10);
    const [old, oldBySdk] = [await list({ raw, headers: older }), await list({ raw, headers: { ...older, ...odd } })];
    expect(old.message).toEqual(oldBySdk.message);
    expect(old.message.result.tools).toEqual(expect.arrayContaining(plain.message.result.tools));
  });

  it("[MCP-REQUEST-STATE] every tool refuses a request state that was not made here, and nothing changes", async () => {
    const before = await stateOf(world);
    const forged = ["forged", "", "v1.e30.AAAA", "x".repeat(10_000)];
    const taken: unknown[] = [];
    for (const tool of world.tools) {
      for (const requestState of forged) {
        const params = { name: tool.name, arguments: goodArguments(world, tool), requestState };
        const { message, text } = await rpc(world.server.url, "tools/call", { params });
        if (message?.error?.code !== -32602) taken.push([tool.name, requestState.slice(0, 20), text.slice(0, 200)]);
      }
    }
    expect(taken).toEqual([]);
    expect(await stateOf(world)).toEqual(before);
  });

  it("an unknown token, and one of another kind, reveal nothing", async () => {
    const [status] = world.tools.filter(({ name }: Loose) => /(alpha_status|get_submission)$/.test(name));
    const { message } = await callTool(world.server.url, status.name, { resumeToken: UNKNOWN_TOKEN });
    expect(message.result.structuredContent).toMatchObject({ ok: false, error: { type: "token_invalid" } });
    expect(Object.keys(message.result.structuredContent).toSorted()).toEqual(["error", "ok"]);
  });
});
