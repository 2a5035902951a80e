import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import { connectHost, type Host } from "../support/mcp.ts";
import { callTool, listTools } from "../support/mcp-raw.ts";
import { hostileCases } from "./hostile-cases.ts";
import { createHostileWorld, type HostileWorld } from "./hostile-world.ts";
import { problemsOfRefusal, supplied, toolsNamedIn } from "./refusals.ts";
import { emptyServer } from "./scene.ts";

/** What a caller could add where a proposal asks for it. */
const BAG: Record<string, unknown> = {
  fields: { name: "Ada" },
  "fields.name": "Ada",
  "initialFields.name": "Ada",
  field: "document",
  filename: "a.pdf",
  mimeType: "application/pdf",
  sizeBytes: 10,
  uploadId: "upl_1",
  intakeId: "alpha",
  reasons: ["Not ours"],
};

describe("whatever is wrong with a call", () => {
  let world: HostileWorld;
  let listed: Set<string>;
  beforeAll(async () => {
    world = await createHostileWorld("auto");
    listed = new Set((await listTools(world.server.url)).map(({ name }) => name));
  });
  afterAll(() => world.server.stop());

  it("[AUDIT-P3] the refusal names a listed tool, and calling it as proposed gets a different response", {
    timeout: 120_000,
  }, async () => {
    const found: string[] = [];
    let followed = 0;
    for (const one of hostileCases(world)) {
      const { message } = await callTool(world.server.url, one.tool, one.args, {});
      if (message?.result === undefined) continue;
      const body = message.result.structuredContent;
      if (body.ok !== false) continue;
      const problems = problemsOfRefusal(body, listed);
      if (problems.length === 0) {
        const { proposal } = body.error;
        const args = supplied(proposal, { ...BAG, resumeToken: world.others.token });
        const next = (await callTool(world.server.url, proposal.tool, args, {})).message?.result?.structuredContent;
        followed += 1;
        const isSame =
          next?.ok !== true && next?.error?.type === body.error.type && next.error.message === body.error.message;
        if (isSame) problems.push(`the proposal changes nothing: ${JSON.stringify(body.error).slice(0, 600)}`);
        if (next?.resumeToken !== undefined && args.resumeToken === world.own.token) world.own.token = next.resumeToken;
        if (next?.resumeToken !== undefined && args.resumeToken === world.others.token)
          world.others.token = next.resumeToken;
      }
      found.push(...problems.map((problem) => `${one.tool}, ${one.what}: ${problem}`));
    }
    expect(found.slice(0, 10)).toEqual([]);
    expect(followed).toBeGreaterThan(300);
  });
});

describe("a refusal", () => {
  let server: TestServer;
  let host: Host;
  let agent: Host;
  let listed: Set<string>;
  beforeAll(async () => {
    server = await emptyServer();
    await server.putIntake({
      id: "vendor",
      schema: {
        type: "object",
        additionalProperties: false,
        required: ["legal_name", "signature", "scan"],
        properties: {
          legal_name: { type: "string" },
          contact: {
            type: "object",
            additionalProperties: false,
            required: ["email"],
            properties: { email: { type: "string" }, phone: { type: "string" } },
          },
          tax_id: { type: "string", "x-sensitive": true },
          signature: { type: "string", "x-fill": "human" },
          scan: { "x-file": { accept: ["application/pdf"], maxBytes: 1000 } },
        },
      },
    });
    await server.putIntake({ id: "plain" });
    host = await connectHost(server.url);
    const key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
    agent = await connectHost(server.url, { key });
    listed = new Set((await host.tools()).map(({ name }) => name));
  });
  afterAll(async () => {
    await Promise.all([host.close(), agent.close()]);
    await server.stop();
  });

  const started = (initialFields: object = {}) => host.done("formbridge_vendor_create", { initialFields });

  it("[AUDIT-P3] of an unknown field says which one was meant, and does not ask for it", async () => {
    const { resumeToken } = await started();
    const args = { resumeToken, fields: { legalName: "Acme", contact: { emial: "a@example.com" } } };
    const { error } = await host.refused("formbridge_set_fields", args, "invalid");
    expect(error.proposal).toMatchObject({
      tool: "formbridge_set_fields",
      arguments: { fields: { legal_name: "Acme", contact: { email: "a@example.com" } } },
    });
    expect(error.nextActions[0].hint).toContain("Did you mean legal_name");
    const set = await host.done(error.proposal.tool, error.proposal.arguments);
    expect(set.missingFields).not.toContain("legal_name");
  });

  it("[AUDIT-P3] of a field that resembles none leads to the names that there are", async () => {
    const { resumeToken } = await started();
    const { error } = await host.refused("formbridge_set_fields", { resumeToken, fields: { nope: 1 } }, "invalid");
    expect(error.nextActions[0].hint).toBe("There is no field nope. Leave it out.");
    expect(error.proposal).toMatchObject({ tool: "formbridge_get_intake", arguments: { intakeId: "vendor" } });
    const { intake } = await host.done(error.proposal.tool, error.proposal.arguments);
    expect(intake.fields[0]).toMatchObject({ path: "legal_name", required: true });
  });

  it("[AUDIT-P3] of a mail on a server without mail leads to a link without one", async () => {
    const { resumeToken } = await started();
    const asked = { resumeToken, kind: "magic_link" };
    const bare = await host.refused("formbridge_handoff", asked, "bad_request");
    const args = { ...asked, recipientEmail: "ada@example.com" };
    expect(supplied(bare.error.proposal, args)).toEqual(args);
    const { error } = await host.refused("formbridge_handoff", args, "service_unavailable");
    expect(error.proposal).toMatchObject({ tool: "formbridge_handoff", arguments: { resumeToken } });
    expect(await host.done(error.proposal.tool, error.proposal.arguments)).toMatchObject({ kind: "session" });
  });

  it("[AUDIT-P3] of an id that was sent as the token names it, and the other way round", async () => {
    const { submissionId, resumeToken } = await agent.done("formbridge_vendor_create", {});
    const asId = await agent.refused("formbridge_get_submission", { resumeToken: submissionId }, "token_invalid");
    expect(asId.error.proposal).toMatchObject({ tool: "formbridge_get_submission", arguments: { submissionId } });
    const set = { submissionId: resumeToken, fields: { legal_name: "Acme" } };
    const asToken = await host.refused("formbridge_set_fields", set, "token_required");
    expect(asToken.error.proposal).toMatchObject({ tool: "formbridge_set_fields", arguments: { resumeToken } });
    expect(asToken.error.proposal.arguments).not.toHaveProperty("submissionId");
  });

  it.each([
    ["formbridge_set_fields", { feilds: { legal_name: "Acme" } }, { fields: { legal_name: "Acme" } }],
    ["formbridge_set_fields", { legal_name: "Acme" }, { fields: { legal_name: "Acme" } }],
    ["formbridge_vendor_create", { fields: { legal_name: "Acme" } }, { initialFields: { legal_name: "Acme" } }],
    ["formbridge_vendor_create", { legal_name: "Acme" }, { initialFields: { legal_name: "Acme" } }],
  ])("[AUDIT-P3] of an unknown argument of %s corrects it: %o", async (tool, wrong, right) => {
    const { resumeToken } = await started();
    const target = tool.endsWith("_create") ? {} : { resumeToken, fields: {} };
    const args = "feilds" in wrong ? { resumeToken, ...wrong } : { ...target, ...wrong };
    const { error } = await host.refused(tool, args, "bad_request");
    expect(error.proposal).toMatchObject({ tool, arguments: right });
    await host.done(error.proposal.tool, error.proposal.arguments);
  });

  it("[AUDIT-P3] of a human-only field keeps the rest, and then leads to a human", async () => {
    const { resumeToken } = await started();
    const fields = { legal_name: "Acme", signature: "I, the agent" };
    const { error } = await host.refused("formbridge_set_fields", { resumeToken, fields }, "invalid");
    expect(error.proposal.arguments.fields).toEqual({ legal_name: "Acme" });
    const set = await host.done(error.proposal.tool, error.proposal.arguments);
    const only = { resumeToken: set.resumeToken, fields: { signature: "I, the agent" } };
    const { error: again } = await host.refused("formbridge_set_fields", only, "invalid");
    expect(again.proposal).toMatchObject({ tool: "formbridge_handoff", arguments: { resumeToken: set.resumeToken } });
    expect((await host.done(again.proposal.tool, again.proposal.arguments)).url).toContain("/resume/");
  });

  it("[AUDIT-P3] of a submit names all missing fields at once", async () => {
    const { resumeToken } = await host.done("formbridge_plain_create", {});
    const { error } = await host.refused("formbridge_submit", { resumeToken, idempotencyKey: "all" }, "missing");
    expect(error.proposal).toMatchObject({
      tool: "formbridge_set_fields",
      arguments: { resumeToken, fields: {} },
      supply: ["fields.name"],
    });
  });

  it("[AUDIT-P5] a call that names no submission is token_required, in terms of the tools", async () => {
    for (const caller of [host, agent]) {
      for (const [tool, args] of [
        ["formbridge_set_fields", { fields: {} }],
        ["formbridge_submit", { idempotencyKey: "k" }],
        ["formbridge_get_submission", {}],
        ["formbridge_handoff", {}],
      ] as const) {
        const { error } = await caller.refused(tool, args, "token_required");
        expect(error.message).toContain("resumeToken");
        expect(error.proposal).toMatchObject({ tool, supply: ["resumeToken"] });
      }
    }
  });

  it("[AUDIT-P5] a key's write by id without a version is offered the current token, without words of HTTP", async () => {
    const { submissionId } = await agent.done("formbridge_plain_create", {});
    const args = { submissionId, fields: { name: "Ada" } };
    const body = await agent.refused("formbridge_set_fields", args, "token_required");
    const agents = new Set((await agent.tools()).map(({ name }) => name));
    expect(problemsOfRefusal(body, agents)).toEqual([]);
    const set = await agent.done(body.error.proposal.tool, body.error.proposal.arguments);
    expect(set).toMatchObject({ version: 2, missingFields: [] });
    const reviewing = await host.call("formbridge_review", { submissionId, decision: "approved" });
    expect(problemsOfRefusal(reviewing.body, listed)).toEqual([]);
  });

  it("[AUDIT-P10] no proposal repeats a sensitive value of the caller", async () => {
    const made = await started();
    await host.done("formbridge_set_fields", { resumeToken: made.resumeToken, fields: { tax_id: "11-1111111" } });
    const fields = { legal_name: "Acme", tax_id: "99-9999999" };
    const late = { resumeToken: made.resumeToken, fields };
    const conflict = await host.refused("formbridge_set_fields", late, "token_conflict");
    expect(JSON.stringify(conflict)).not.toMatch(/99-9999999|11-1111111/);
    const unknown = { resumeToken: conflict.resumeToken, fields: { ...fields, nope: 1 } };
    const invalid = await host.refused("formbridge_set_fields", unknown, "invalid");
    expect(JSON.stringify(invalid)).not.toContain("99-9999999");
    expect(invalid.error.proposal).toMatchObject({
      arguments: { fields: { legal_name: "Acme" } },
      supply: ["fields.tax_id"],
    });
    const misspelt = await host.refused("formbridge_set_fields", { ...unknown, actr: {} }, "bad_request");
    expect(JSON.stringify(misspelt)).not.toContain("99-9999999");
  });

  it("[AUDIT-P7] a stale submit shows what others changed, by whom and to what, before anything is proposed", async () => {
    const { resumeToken } = await host.done("formbridge_plain_create", { initialFields: { name: "Ada" } });
    await server.call("PATCH", `/resume/${resumeToken}`, {
      body: { fields: { name: "Grace" }, actor: { kind: "human", id: "grace", name: "Grace H." } },
    });
    const args = { resumeToken, idempotencyKey: "stale-submit" };
    const { error } = await host.refused("formbridge_submit", args, "token_conflict");
    const { proposal } = error;
    expect(Object.keys(proposal)[0]).toBe("changed");
    expect(proposal.changed).toEqual([
      expect.objectContaining({ path: "name", by: "human Grace H.", theirs: "Grace" }),
    ]);
    expect(proposal.note).toContain("name (human Grace H.)");
    expect(await host.done(proposal.tool, proposal.arguments)).toMatchObject({ state: "finalized" });
  });

  it("[AUDIT-P2] of a call that needs rights names tools listed for this caller", async () => {
    const viewerKey = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "viewer" } });
    const viewer = await connectHost(server.url, { key: viewerKey });
    const forViewers = new Set((await viewer.tools()).map(({ name }) => name));
    const { submissionId, version } = await started();
    const args = { submissionId, version, fields: { legal_name: "x" } };
    const body = await viewer.refused("formbridge_set_fields", args, "forbidden");
    expect(problemsOfRefusal(body, forViewers)).toEqual([]);
    await viewer.done(body.error.proposal.tool, body.error.proposal.arguments);
    await viewer.close();
  });

  it("[AUDIT-P2] prompts, descriptions, instructions and responses name listed tools only, for every kind of caller", async () => {
    const keys: (string | undefined)[] = [undefined, server.adminKey];
    for (const role of ["agent", "viewer", "reviewer"] as const) {
      keys.push(await server.makeKey({ roles: [role], actor: { kind: "human", id: role } }));
    }
    for (const key of keys) {
      const caller = await connectHost(server.url, key === undefined ? {} : { key });
      const tools = await caller.tools();
      const names = new Set(tools.map(({ name }) => name));
      const { prompts } = await caller.client.listPrompts();
      const texts: Loose[] = [tools, prompts, caller.client.getInstructions(), await caller.client.listResources()];
      const given: Record<string, Record<string, string>> = {
        fill_intake: { intakeId: "vendor" },
        continue_submission: { resumeToken: `rtok_${"x".repeat(43)}` },
      };
      for (const { name } of prompts) {
        texts.push(await caller.client.getPrompt({ name, arguments: given[name] ?? {} }));
      }
      expect(
        [...toolsNamedIn(texts)].filter((name) => !names.has(name)),
        String(key?.slice(0, 6)),
      ).toEqual([]);
      await caller.close();
    }
  });

  it("[AUDIT-P10] takes the JSON text of an object or list for the object or list", async () => {
    const made = await host.done("formbridge_vendor_create", { initialFields: '{"legal_name":"Acme"}' });
    const { resumeToken } = made;
    expect(made.missingFields).not.toContain("legal_name");
    const set = await host.done("formbridge_set_fields", { resumeToken, fields: ' {"contact":{"email":"a@b.c"}}' });
    expect(set.updatedFields).toEqual(["contact.email"]);
    await host.refused("formbridge_set_fields", { resumeToken: set.resumeToken, fields: "{broken" }, "bad_request");
    const handoff = { resumeToken: set.resumeToken, allowedActors: '[{"kind":"human","id":"ada"}]' };
    await host.done("formbridge_handoff", handoff);
    expect(listed.has("formbridge_handoff")).toBe(true);
  });

  it("[AUDIT-P10] the history has one default length, and proof is a boolean", async () => {
    const { resumeToken } = await started();
    const proven = await host.done("formbridge_get_events", { resumeToken, proof: true, verbose: true });
    expect(proven.events[0].proof).toBeDefined();
    const [tool] = (await host.tools()).filter(({ name }) => name === "formbridge_get_events");
    expect(JSON.stringify(tool).match(/by default/g)).toHaveLength(1);
    expect(tool?.inputSchema.properties.limit.description).toContain("20 by default");
  });

  it("[AUDIT-P10] titles and descriptions quote no name twice", async () => {
    for (const { description } of await host.tools()) expect(description).not.toContain('""');
  });

  it("[AUDIT-P4] a QR hand-off is a link, with a separate picture only on request", async () => {
    const { resumeToken } = await started();
    const plain: Loose = await host.client.callTool({
      name: "formbridge_handoff",
      arguments: { resumeToken, kind: "qr" },
    });
    expect(plain.content).toHaveLength(1);
    expect(plain.structuredContent.url).toContain("/resume/");
    expect(plain.content[0].text.length).toBeLessThan(1_000);
    for (const verbose of [false, true]) {
      const args = { resumeToken, kind: "qr", qrFormat: "svg", verbose };
      const shown: Loose = await host.client.callTool({ name: "formbridge_handoff", arguments: args });
      expect(JSON.stringify(shown)).not.toContain("<svg");
      expect(shown.structuredContent.qr).toBeUndefined();
      const [, picture] = shown.content;
      expect(picture).toMatchObject({ type: "image", mimeType: "image/png" });
      expect(Buffer.from(picture.data, "base64").subarray(1, 4).toString()).toBe("PNG");
    }
  });
});

it("[AUDIT-P3] of a create that is not listed names the intake to the shared one", async () => {
  const server = await emptyServer({ FORMBRIDGE_MCP_TOOLS: "generic" });
  const schema = { type: "object", additionalProperties: false, properties: { name: { type: "string" } } };
  await server.putIntake({ id: "strict", schema });
  const host = await connectHost(server.url);
  try {
    for (const wrong of [{ initialFields: { name: "Ada", nope: 1 } }, { fields: { name: "Ada" } }]) {
      const type = "fields" in wrong ? "bad_request" : "invalid";
      const { error } = await host.refused("formbridge_strict_create", wrong, type);
      expect(error.proposal.tool).toBe("formbridge_create_submission");
      const made = await host.done(error.proposal.tool, error.proposal.arguments);
      expect(made.intakeId).toBe("strict");
    }
  } finally {
    await host.close();
    await server.stop();
  }
});
