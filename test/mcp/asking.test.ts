import type { Client, ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMailbox } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { rpcRequest } from "../support/mcp.ts";
import { bodyOf, connectMcp, done } from "../support/mcp-host.ts";

const mailbox = createMailbox();
let server: TestServer;
let key: string;
const clients: Client[] = [];

const SCHEMA = {
  type: "object",
  required: ["name", "email"],
  properties: {
    name: { type: "string", title: "Your name", maxLength: 100 },
    email: { type: ["string", "null"], format: "email" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    news: { type: "boolean", title: "News by mail" },
    size: { type: "string", enum: ["s", "m", "l"] },
    tax_id: { type: "string", "x-sensitive": true },
    signature: { type: "string", "x-fill": "human" },
    paper: { "x-file": { accept: ["application/pdf"], maxBytes: 1000 } },
    address: { type: "object", properties: { city: { type: "string" } } },
    tags: { type: "array", items: { type: "string" } },
    salary: { type: "number" },
    score: { type: "number", "x-fill": "agent" },
  },
  allOf: [{ anyOf: [{ properties: { salary: { "x-sensitive": true } } }, {}] }],
};

beforeAll(async () => {
  server = await startTestServer({ mailer: mailbox });
  await server.putIntake({ id: "forms", schema: SCHEMA });
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
});

type Elicit = (params: ElicitRequestParams) => ElicitResult | Promise<ElicitResult>;

async function hostThat(onElicit: Elicit | undefined, options: { key?: string } = { key }): Promise<Client> {
  const client = await connectMcp(server, { ...options, ...(onElicit && { onElicit }) });
  clients.push(client);
  return client;
}

const begin = (client: Client): Promise<Loose> =>
  done(client, "formbridge_forms_create", { initialFields: { tags: ["new"] } });
const recordOf = async (submissionId: string): Promise<Loose> =>
  (await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey })).body;
const handoffsOf = async (submissionId: string): Promise<Loose[]> =>
  (await server.call("GET", `/submissions/${submissionId}/handoffs`, { key: server.adminKey })).body.items;

it("[MCP-ASK] [MCP-ASK-ACTOR] [MCP-HANDOFF-LINK] the host asks for plain fields, and the answers are set before the link is made", async () => {
  const asked: ElicitRequestParams[] = [];
  const client = await hostThat((params) => {
    asked.push(params);
    return { action: "accept", content: { name: "Ada", age: 36, news: true, size: "" } };
  });
  const { submissionId, resumeToken } = await begin(client);
  const ask = ["name", "email", "age", "news", "size"];
  const body = await done(client, "formbridge_forms_handoff", { resumeToken, ask, message: "A few words, please." });
  expect(asked).toMatchObject([
    {
      message: "A few words, please.",
      requestedSchema: {
        type: "object",
        properties: {
          name: { type: "string", title: "Your name", maxLength: 100 },
          email: { type: "string", format: "email" },
          age: { type: "integer", minimum: 0, maximum: 150 },
          news: { type: "boolean", title: "News by mail" },
          size: { type: "string", enum: ["s", "m", "l"] },
        },
      },
    },
  ]);
  expect(body).toMatchObject({
    version: 2,
    url: expect.stringContaining(`/resume/${submissionId}?session=sess_`),
    asked: { how: "form", action: "accept", updatedFields: ["name", "age", "news"], missingFields: ["email"] },
  });
  const { fields, attribution } = await recordOf(submissionId);
  expect(fields).toEqual({ tags: ["new"], name: "Ada", age: 36, news: true });
  expect(attribution.name.actor).toEqual({ kind: "agent", id: "bot" });
  expect(
    await done(client, "formbridge_forms_set", { resumeToken: body.resumeToken, fields: { age: 37 } }),
  ).toMatchObject({
    version: 3,
  });
});

it("[MCP-ASK-ACTOR] with a token alone the answers are a human's, and declared", async () => {
  const client = await hostThat(() => ({ action: "accept", content: { name: "Ada" } }), {});
  for (const [allowedActors, id] of [
    [undefined, "host_user"],
    [[{ kind: "human", id: "ada" }], "ada"],
  ] as const) {
    const { submissionId, resumeToken } = await begin(client);
    const args = { resumeToken, ask: ["name"], ...(allowedActors && { allowedActors }) };
    await done(client, "formbridge_forms_handoff", args);
    const { attribution } = await recordOf(submissionId);
    expect(attribution.name.actor).toEqual({ kind: "human", id, declared: true });
  }
});

it.each([
  ["by a reference", { $defs: { marks: { properties: { pin: { "x-sensitive": true } } } }, $ref: "#/$defs/marks" }],
  [
    "by a reference in a condition",
    {
      $defs: { marks: { properties: { pin: { "x-fill": "human" } } } },
      if: { required: ["pin"] },
      else: { $ref: "#/$defs/marks" },
    },
  ],
  ["with the whole form", { "x-sensitive": true }],
])("[MCP-ASK-PLAIN] a field that is marked %s is not asked for", async (what, marks) => {
  const id = what.replaceAll(" ", "-");
  await server.putIntake({ id, schema: { type: "object", properties: { pin: { type: "string" } }, ...marks } });
  let asked = 0;
  const client = await hostThat(() => {
    asked++;
    return { action: "cancel" };
  });
  const { resumeToken } = await done(client, `formbridge_${id}_create`, {});
  const args = { resumeToken, ask: ["pin"] };
  const body = bodyOf(await client.callTool({ name: `formbridge_${id}_handoff`, arguments: args }));
  expect([body.error?.type, asked]).toEqual(["bad_request", 0]);
});

it("[MCP-ASK-PLAIN] sensitive, human-only, file, nested and unknown fields are refused before anybody is asked", async () => {
  let asked = 0;
  const client = await hostThat(() => {
    asked++;
    return { action: "accept", content: {} };
  });
  const { submissionId, resumeToken } = await begin(client);
  for (const name of [
    "tax_id",
    "signature",
    "paper",
    "address",
    "tags",
    "salary",
    "score",
    "address.city",
    "nothing",
    "toString",
  ]) {
    const args = { resumeToken, ask: ["name", name] };
    const body = bodyOf(await client.callTool({ name: "formbridge_forms_handoff", arguments: args }));
    expect(body).toMatchObject({ ok: false, error: { type: "bad_request", message: expect.stringContaining(name) } });
  }
  expect(asked).toBe(0);
  expect([(await recordOf(submissionId)).version, await handoffsOf(submissionId)]).toEqual([1, []]);
});

it("[MCP-ASK-DECLINED] [MCP-HANDOFF-LINK] a person who declines, cancels or says nothing changes no field, and the link is there", async () => {
  for (const reply of [{ action: "decline" }, { action: "cancel" }, { action: "accept", content: {} }] as const) {
    const client = await hostThat(() => reply);
    const { submissionId, resumeToken } = await begin(client);
    const body = await done(client, "formbridge_forms_handoff", { resumeToken, ask: ["name"] });
    expect(body).toMatchObject({ version: 1, url: expect.any(String), asked: { how: "form", action: reply.action } });
    expect((await recordOf(submissionId)).fields).toEqual({ tags: ["new"] });
  }
  const mute = await hostThat(undefined);
  const { resumeToken } = await begin(mute);
  const body = await done(mute, "formbridge_forms_handoff", { resumeToken, ask: ["name"] });
  expect(body).toMatchObject({ url: expect.any(String), asked: { how: "form", action: "unavailable" } });
});

it("[MCP-ASK] the person's answers are kept when others wrote meanwhile, and refused when it was about the same field", async () => {
  for (const [fields, outcome] of [
    [{ age: 3 }, { ok: true, version: 3, asked: { updatedFields: ["name"] } }],
    [{ name: "Eve" }, { ok: false, error: { type: "token_conflict", conflictDetails: { fields: ["name"] } } }],
  ] as const) {
    const { submissionId, resumeToken } = await begin(await hostThat(undefined));
    const client = await hostThat(async () => {
      await server.call("PATCH", `/resume/${resumeToken}/fields`, { key, body: { fields } });
      return { action: "accept", content: { name: "Ada" } };
    });
    const args = { resumeToken, ask: ["name"] };
    expect(bodyOf(await client.callTool({ name: "formbridge_forms_handoff", arguments: args }))).toMatchObject(outcome);
    expect((await recordOf(submissionId)).fields).toEqual({
      tags: ["new"],
      ...(outcome.ok && { name: "Ada" }),
      ...fields,
    });
  }
});

it("[MCP-ASK] nobody is asked for what can no longer be set", async () => {
  let asked = 0;
  const client = await hostThat(() => {
    asked++;
    return { action: "accept", content: { name: "Ada" } };
  });
  const stale = await begin(client);
  await server.call("PATCH", `/resume/${stale.resumeToken}/fields`, { key, body: { fields: { age: 3 } } });
  const over = await begin(client);
  await server.call("DELETE", `/resume/${over.resumeToken}`, { key, body: {} });
  for (const [{ resumeToken }, type] of [
    [stale, "token_conflict"],
    [over, "cancelled"],
  ] as const) {
    const args = { resumeToken, ask: ["name"] };
    const body = bodyOf(await client.callTool({ name: "formbridge_forms_handoff", arguments: args }));
    expect(body).toMatchObject({ ok: false, error: { type } });
  }
  expect(asked).toBe(0);
});

/** One round of a call, as it is on the wire. */
async function round(
  args: object,
  more: { tool?: string; key?: string; [param: string]: unknown } = {},
): Promise<Loose> {
  const { tool = "formbridge_forms_handoff", key: by = key, ...params } = more;
  const capabilities = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} } } };
  const request = rpcRequest("tools/call", { name: tool, arguments: args, ...params }, capabilities);
  return (await server.call("POST", "/mcp", { key: by, ...request })).body;
}

const accept = (content: object) => ({ inputResponses: { person: { action: "accept", content } } });

it("[MCP-ASK-DECLINED] a reply that does not match what was asked for sets nothing", async () => {
  const { submissionId, resumeToken } = await begin(await hostThat(undefined));
  const args = { resumeToken, ask: ["name"] };
  const { requestState } = (await round(args)).result;
  for (const content of [{ name: "Ada", tax_id: "1" }, { name: { deep: 1 } }, { name: ["a"] }, { __proto__x: 1 }]) {
    const { result } = await round(args, { requestState, ...accept(content) });
    expect(result.structuredContent).toMatchObject({ ok: false, error: { type: "bad_request" } });
  }
  expect([(await recordOf(submissionId)).version, await handoffsOf(submissionId)]).toEqual([1, []]);
  // A lost question is asked again, without effect.
  expect((await round(args, { requestState })).result).toMatchObject({ resultType: "input_required" });
});

it("[MCP-REQUEST-STATE] a state that is forged, old, or of another caller or call is refused, and nothing changes", async () => {
  const { submissionId, resumeToken } = await begin(await hostThat(undefined));
  const other = await server.makeKey({ roles: ["admin"], actor: { kind: "agent", id: "other" } });
  const args = { resumeToken, ask: ["name"] };
  const first = (await round(args)).result;
  expect(first).toMatchObject({
    resultType: "input_required",
    inputRequests: { person: { method: "elicitation/create" } },
  });
  const state: string = first.requestState;
  expect(state).not.toContain(resumeToken);
  const middle = Math.floor(state.length / 2);
  const flipped = state.slice(0, middle) + (state[middle] === "A" ? "B" : "A") + state.slice(middle + 1);
  const answer = accept({ name: "Eve" });
  const refusals = [
    await round(args, { ...answer, requestState: "forged" }),
    await round(args, { ...answer, requestState: "" }),
    await round(args, { ...answer, requestState: flipped }),
    await round(args, { ...answer, requestState: `${state}${"x".repeat(50_000)}` }),
    await round(args, { ...answer, requestState: state, key: other }),
    await round({ ...args, ask: ["name", "email"] }, { ...answer, requestState: state }),
    await round({ ...args, message: "Other words" }, { ...answer, requestState: state }),
    await round({ resumeToken, fields: { name: "Eve" } }, { tool: "formbridge_forms_set", requestState: state }),
  ];
  server.clock.advance(16 * 60_000);
  refusals.push(await round(args, { ...answer, requestState: state }));
  for (const { error } of refusals) expect(error).toMatchObject({ code: -32602 });
  expect([(await recordOf(submissionId)).version, await handoffsOf(submissionId)]).toEqual([1, []]);
  const { requestState } = (await round(args)).result;
  const { result } = await round(args, { ...answer, requestState });
  expect(result.structuredContent).toMatchObject({ ok: true, version: 2, asked: { action: "accept" } });
  // A duplicate reply is set once.
  const again = (await round(args, { ...answer, requestState })).result.structuredContent;
  expect(again).toMatchObject({ ok: true, version: 2, asked: { action: "accept" } });
  expect((await recordOf(submissionId)).version).toBe(2);
});

it("[MCP-HANDOFF-URL] [MCP-HANDOFF-LINK] a link that needs a code is offered to open, once, and carries no secret", async () => {
  for (const action of ["accept", "decline", "cancel"] as const) {
    const asked: ElicitRequestParams[] = [];
    const client = await hostThat((params) => {
      asked.push(params);
      return { action };
    });
    const { submissionId, resumeToken } = await begin(client);
    const args = { resumeToken, kind: "magic_link", recipientEmail: "jane@example.com" };
    const body = await done(client, "formbridge_forms_handoff", args);
    const url = `${server.url}/resume/${submissionId}?code=`;
    expect(asked).toMatchObject([{ mode: "url", url }]);
    expect(JSON.stringify(asked)).not.toMatch(/jane|sess_|rtok_/);
    expect(JSON.stringify(asked)).not.toContain(mailbox.lastCode());
    expect(body).toMatchObject({ url, kind: "magic_link", asked: { how: "url", action } });
    expect(await handoffsOf(submissionId)).toMatchObject([{ status: "open" }]);
  }
});

it("[MCP-HANDOFF-URL] a link that contains its secret is never put into a URL elicitation", async () => {
  let asked = 0;
  const client = await hostThat(() => {
    asked++;
    return { action: "accept" };
  });
  const { resumeToken } = await begin(client);
  for (const kind of [undefined, "session", "qr", "direct"]) {
    const body = await done(client, "formbridge_forms_handoff", { resumeToken, ...(kind && { kind }) });
    expect(body).toMatchObject({ url: expect.stringMatching(/sess_|rtok_/) });
    expect(body.asked).toBeUndefined();
  }
  expect(asked).toBe(0);
});
