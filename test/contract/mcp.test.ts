import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../support/child.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { CLIENT_NAME, connectHost, connectOldHost, type Host } from "../support/mcp.ts";
import { rpc } from "../support/mcp-raw.ts";
import { idempotencyKey } from "../support/moves.ts";
import { eventTypes, record } from "../support/submissions.ts";

const noIntakes = tempFolder();
let server: TestServer;
let host: Host;
let key: string;

beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_INTAKES: noIntakes.path } });
  await server.putIntake({ id: "note" });
  await server.putIntake({ id: "other" });
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "keyed" } });
  host = await connectHost(server.url);
});
afterAll(async () => {
  await host.close();
  await server.stop();
  noIntakes.remove();
});

const started = (fields: Loose = { name: "Ada" }): Promise<Loose> =>
  host.done("formbridge_note_create", { initialFields: fields });

describe("an agent's path through a submission", () => {
  it("[MCP-ANSWER] works from start to end with tools alone", async () => {
    const made = await started({ note: "hello" });
    expect(made).toMatchObject({ state: "in_progress", version: 1, missingFields: ["name"] });
    const set = await host.done("formbridge_note_set", { resumeToken: made.resumeToken, fields: { name: "Ada" } });
    expect(set).toMatchObject({ version: 2, updatedFields: ["name"], missingFields: [] });
    const checked = await host.done("formbridge_note_validate", { resumeToken: set.resumeToken });
    expect(checked).toMatchObject({ ready: true, version: 2, resumeToken: set.resumeToken });
    const sent = await host.done("formbridge_note_submit", {
      resumeToken: set.resumeToken,
      idempotencyKey: idempotencyKey("end"),
    });
    expect(sent).toMatchObject({ state: "finalized", version: 3 });
    const read = await host.done("formbridge_note_status", { resumeToken: sent.resumeToken });
    expect(read).toMatchObject({ state: "finalized", fields: { name: "Ada", note: "hello" } });
    const { events } = await host.done("formbridge_note_events", { resumeToken: sent.resumeToken });
    expect(events.map(({ type }: Loose) => type)).toEqual(await eventTypes(server, made.submissionId));
  });

  it("[MCP-ERROR] says what to do next, in words that name tools", async () => {
    const made = await started({});
    const args = { resumeToken: made.resumeToken, idempotencyKey: idempotencyKey("early") };
    const { error } = await host.refused("formbridge_note_submit", args, "missing");
    expect(error.fields).toEqual([expect.objectContaining({ path: "name", code: "required" })]);
    expect(error.nextActions).toEqual([
      { action: "collect_field", field: "name", hint: expect.stringContaining("formbridge_set_fields") },
    ]);
    const { error: keyless } = await host.refused(
      "formbridge_note_submit",
      { resumeToken: made.resumeToken },
      "invalid",
    );
    expect(keyless.nextActions[0].hint).toContain("the same key for every retry of the same call");
  });

  it("[MCP-ERROR] gets the envelope that HTTP gives", async () => {
    const token = `rtok_${"x".repeat(43)}`;
    const [{ body }, overHttp] = [
      await host.call("formbridge_note_status", { resumeToken: token }),
      await server.call("GET", `/resume/${token}`),
    ];
    // The same except for the hints, which name tools.
    const actions = (told: Loose) => told.error.nextActions.map(({ action }: Loose) => action);
    expect(actions(body)).toEqual(actions(overHttp.body));
    const { proposal, nextActions: _hints, ...error } = body.error;
    const { nextActions: _inHttpWords, ...expected } = overHttp.body.error;
    expect({ ...body, error }).toEqual({ ...overHttp.body, error: expected });
    expect(proposal).toMatchObject({ tool: "formbridge_note_create" });
  });

  it("[MCP-REPLAY] may repeat a call whose response was lost", async () => {
    const args = { initialFields: { name: "Ada" }, idempotencyKey: idempotencyKey("again") };
    const first = await host.call("formbridge_note_create", args);
    const again = await host.call("formbridge_note_create", args);
    expect(first.meta.idempotent_replayed).toBeUndefined();
    expect(again.meta.idempotent_replayed).toBe(true);
    expect(again.body).toEqual({ ...first.body, _idempotent: true });
    const submit = { resumeToken: first.body.resumeToken, idempotencyKey: idempotencyKey("once") };
    const sent = await host.call("formbridge_note_submit", submit);
    const resent = await host.call("formbridge_note_submit", submit);
    expect(resent.meta.idempotent_replayed).toBe(true);
    expect(resent.body).toEqual({ ...sent.body, _idempotent: true });
    const types = await eventTypes(server, first.body.submissionId);
    expect(types.filter((type) => type === "submission.submitted")).toHaveLength(1);
  });

  it("[MCP-REPLAY] a refusal that was recorded is replayed as one", async () => {
    const { resumeToken } = await started({});
    const args = { resumeToken, idempotencyKey: idempotencyKey("too-early") };
    const first = await host.call("formbridge_note_submit", args);
    const again = await host.call("formbridge_note_submit", args);
    expect([first.isError, again.isError]).toEqual([true, true]);
    expect(again.meta.idempotent_replayed).toBe(true);
    expect(again.body.error).toEqual(first.body.error);
  });
});

describe("who acts", () => {
  it("[MCP-ACTOR] is the client's name by default", async () => {
    const { submissionId } = await started();
    expect((await record(server, submissionId)).createdBy).toEqual({ kind: "agent", id: CLIENT_NAME, declared: true });
  });

  it("[MCP-ACTOR] is the given actor", async () => {
    const actor = { kind: "agent", id: "helper", name: "Helper" };
    const { submissionId } = await host.done("formbridge_note_create", { actor });
    expect((await record(server, submissionId)).createdBy).toEqual({ ...actor, declared: true });
  });

  it("[MCP-ACTOR] is the key's own with a key, and no other", async () => {
    const keyed = await connectHost(server.url, { key });
    const { submissionId } = await keyed.done("formbridge_note_create", {});
    expect((await record(server, submissionId)).createdBy).toEqual({ kind: "agent", id: "keyed" });
    await keyed.refused("formbridge_note_create", { actor: { kind: "agent", id: "somebody" } }, "forbidden");
    await keyed.close();
  });
});

describe("a token that is stale", () => {
  it("[MCP-STALE] is answered with a proposal that succeeds", async () => {
    const made = await started();
    const args = { resumeToken: made.resumeToken, fields: { note: "mine" } };
    await server.call("PATCH", `/resume/${made.resumeToken}`, {
      body: { fields: { name: "Grace" }, actor: { kind: "human", id: "grace", name: "Grace H." } },
    });
    const { error, resumeToken } = await host.refused("formbridge_note_set", args, "token_conflict");
    expect(error.proposal).toMatchObject({
      tool: "formbridge_set_fields",
      arguments: { resumeToken, fields: { note: "mine" } },
      changed: [{ path: "name", by: "human Grace H." }],
    });
    const merged = await host.done(error.proposal.tool, error.proposal.arguments);
    expect(merged).toMatchObject({ version: 3 });
    expect((await record(server, made.submissionId)).fields).toEqual({ name: "Grace", note: "mine" });
  });

  it("[MCP-STALE] keeps what others have set where both wrote, and shows both", async () => {
    const made = await started();
    const fields = { name: "Ada L.", note: "mine" };
    await server.call("PATCH", `/resume/${made.resumeToken}`, {
      body: { fields: { name: "Grace" }, actor: { kind: "human", id: "grace" } },
    });
    const { error } = await host.refused(
      "formbridge_note_set",
      { resumeToken: made.resumeToken, fields },
      "token_conflict",
    );
    expect(error.proposal.arguments.fields).toEqual({ note: "mine" });
    expect(error.proposal.changed).toEqual([
      { path: "name", by: "human grace", at: expect.any(String), yours: "Ada L.", theirs: "Grace" },
    ]);
    expect(error.proposal.note).toContain("name");
    await host.done(error.proposal.tool, error.proposal.arguments);
    expect((await record(server, made.submissionId)).fields).toEqual({ name: "Grace", note: "mine" });
  });

  it("[MCP-STALE] of any other write is answered with the same call on the current version", async () => {
    const made = await started();
    await host.done("formbridge_note_set", { resumeToken: made.resumeToken, fields: { note: "first" } });
    const args = { resumeToken: made.resumeToken, idempotencyKey: idempotencyKey("late") };
    const { error } = await host.refused("formbridge_note_submit", args, "token_conflict");
    expect(await host.done(error.proposal.tool, error.proposal.arguments)).toMatchObject({ state: "finalized" });
  });

  it("[MCP-STALE] learns nothing where the intake discloses nothing", async () => {
    await server.putIntake({ id: "silent", tokens: { discloseCurrent: false } });
    const made = await host.done("formbridge_silent_create", { initialFields: { name: "Ada" } });
    await host.done("formbridge_silent_set", { resumeToken: made.resumeToken, fields: { name: "Grace" } });
    const args = { resumeToken: made.resumeToken, fields: { name: "Eve" } };
    const body = await host.refused("formbridge_silent_set", args, "token_conflict");
    expect(body.error.proposal).toMatchObject({ tool: "formbridge_silent_create", arguments: {} });
    expect(body.resumeToken).toBeUndefined();
    expect(JSON.stringify(body)).not.toContain("Grace");
  });
});

describe("what a caller can access", () => {
  it("[MCP-OWN-INTAKE] ends at the intake that the tool belongs to", async () => {
    const made = await started();
    const { resumeToken, submissionId } = made;
    const body = await host.refused("formbridge_other_set", { resumeToken, fields: { name: "Eve" } }, "token_invalid");
    const unknown = { resumeToken: `rtok_${"x".repeat(43)}`, fields: { name: "Eve" } };
    expect(body).toEqual(await host.refused("formbridge_other_set", unknown, "token_invalid"));
    await host.refused("formbridge_other_cancel", { resumeToken }, "token_invalid");
    await host.refused("formbridge_other_status", { resumeToken }, "token_invalid");
    const admin = await connectHost(server.url, { key: server.adminKey });
    await admin.refused("formbridge_other_status", { submissionId }, "not_found");
    await admin.done("formbridge_note_status", { submissionId });
    await admin.close();
    expect(await record(server, submissionId)).toMatchObject({ version: 1, state: "in_progress" });
  });

  it("[MCP-RIGHTS] is what its key may, as over HTTP", async () => {
    await server.putIntake({ id: "closed", access: "key" });
    const [mine, others, viewer] = await Promise.all([
      connectHost(server.url, { key }),
      connectHost(server.url, {
        key: await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "stranger" } }),
      }),
      connectHost(server.url, {
        key: await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "looker" } }),
      }),
    ]);
    const { submissionId } = await mine.done("formbridge_closed_create", { initialFields: { name: "Ada" } });
    await mine.done("formbridge_closed_status", { submissionId });
    await others.refused("formbridge_closed_status", { submissionId }, "not_found");
    const seen = await viewer.done("formbridge_closed_status", { submissionId });
    expect(seen.resumeToken).toBeUndefined();
    await viewer.refused("formbridge_closed_create", {}, "forbidden");
    await host.refused("formbridge_create_submission", { intakeId: "closed" }, "unauthorized");
    await Promise.all([mine, others, viewer].map((open) => open.close()));
  });

  it("[MCP-RIGHTS] an invalid key is a 401", async () => {
    const reply = await server.call("POST", "/mcp", {
      key: `fbk_${"z".repeat(43)}`,
      headers: { accept: "application/json, text/event-stream" },
      body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    });
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toContain("Bearer");
    expect(reply.body.error.data.error.type).toBe("unauthorized");
  });

  it.each([
    ["tools/list", {}],
    ["tools/list", { "content-type": "application/json; charset=utf-8" }],
    ["resources/list", {}],
    ["prompts/get", {}],
  ])("[MCP-RIGHTS] a revoked key sees nothing more from then on: %s %j", async (method, headers) => {
    const made = await server.call("POST", "/keys", {
      key: server.adminKey,
      body: { name: "Short-lived", roles: ["agent"], actor: { kind: "agent", id: "short-lived" } },
    });
    const params = method === "prompts/get" ? { name: "fill_intake", arguments: { intakeId: "note" } } : {};
    const call = { key: made.body.key as string, headers, params };
    expect((await rpc(server.url, method, call)).status).toBe(200);
    await server.call("DELETE", `/keys/${made.body.keyId}`, { key: server.adminKey });
    expect((await rpc(server.url, method, call)).status).toBe(401);
  });
});

describe("the tools of a server", () => {
  it("[MCP-LIST-CHANGED] follow its intakes, and subscribers are notified", async () => {
    const admin = await connectHost(server.url, { key: server.adminKey });
    let told = 0;
    const listening = await admin.client.listen({ toolsListChanged: true });
    admin.client.setNotificationHandler("notifications/tools/list_changed", () => {
      told += 1;
    });
    const names = async () => (await admin.tools()).map(({ name }) => name);
    expect(await names()).not.toContain("formbridge_fresh_create");
    await server.putIntake({ id: "fresh", description: "Brand new." });
    await expect.poll(() => told).toBeGreaterThan(0);
    expect(await names()).toContain("formbridge_fresh_create");
    await server.call("DELETE", "/intakes/fresh", { key: server.adminKey });
    await expect.poll(() => told).toBeGreaterThan(1);
    expect(await names()).not.toContain("formbridge_fresh_create");
    await listening.close();
    await admin.close();
  });

  it.each([
    ["2026-07-28", () => connectHost(server.url)],
    ["2025-11-25, by the client of today", () => connectHost(server.url, { era: "legacy" })],
    ["2025-11-25, by the client of yesterday", () => connectOldHost(server.url)],
  ])("[MCP-REVISIONS] serve %s", async (_revision, connect) => {
    const guest = await connect();
    const made = await guest.done("formbridge_note_create", { initialFields: { note: "hi" } });
    expect(made).toMatchObject({ missingFields: ["name"], version: 1 });
    const set = await guest.done("formbridge_note_set", { resumeToken: made.resumeToken, fields: { name: "Ada" } });
    await guest.refused("formbridge_note_set", { resumeToken: made.resumeToken, fields: {} }, "token_conflict");
    const submit = { resumeToken: set.resumeToken, idempotencyKey: `done-${made.submissionId}` };
    expect(await guest.done("formbridge_note_submit", submit)).toMatchObject({ state: "finalized" });
    await guest.close();
  });
});
