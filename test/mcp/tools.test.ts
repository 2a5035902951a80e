import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../support/harness.ts";
import { connectHost, type Host, rpcRequest } from "../support/mcp.ts";
import { emptyServer, type Scene, startScene } from "./scene.ts";

let scene: Scene;
let admin: Host;
let anybody: Host;
beforeAll(async () => {
  scene = await startScene();
  ({ admin, anybody } = scene);
});
afterAll(() => scene.stop());

const SUFFIXES = [
  "cancel",
  "confirm",
  "create",
  "events",
  "handoff",
  "retry",
  "set",
  "status",
  "submit",
  "upload",
  "validate",
];
const READING = ["formbridge_get_events", "formbridge_get_intake", "formbridge_get_submission"];
const WRITING = [
  "formbridge_abandon_upload",
  "formbridge_cancel",
  "formbridge_confirm_upload",
  "formbridge_handoff",
  "formbridge_request_upload",
  "formbridge_retry_delivery",
  "formbridge_set_fields",
  "formbridge_submit",
  "formbridge_validate_submission",
];
const VERBS = [...READING, ...WRITING];
/** For a caller without a create tool per intake. */
const GENERIC = [...VERBS, "formbridge_create_submission", "formbridge_list_intakes"].toSorted();

const aFile = { field: "pdf", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 9 };

const namesFor = async (host: Host): Promise<string[]> => (await host.tools()).map(({ name }) => name).toSorted();

describe("the list of tools", () => {
  it("[MCP-TOOLS] has a create for each intake that the caller sees, and one set of verbs", async () => {
    const creates = (...ids: string[]) => ids.map((id) => `formbridge_${id}_create`);
    const forAdmins = [...VERBS, "formbridge_review", ...creates("files", "secret", "trip_plan")];
    expect(await namesFor(admin)).toEqual(forAdmins.toSorted());
    expect(await namesFor(anybody)).toEqual([...VERBS, ...creates("files", "trip_plan")].toSorted());
  });

  it("[MCP-TOOLS] finds the intake by the token, and by the name of an intake's own tool", async () => {
    const made = await anybody.done("formbridge_trip_plan_create", {});
    const set = await anybody.done("formbridge_set_fields", { resumeToken: made.resumeToken, fields: { to: "Rome" } });
    expect(set.missingFields).toEqual(["when", "consent", "pin"]);
    expect(set.toFill[0]).toMatchObject({ path: "when", format: "date" });
    const read = await anybody.done("formbridge_trip_plan_status", { resumeToken: set.resumeToken });
    expect(read).toMatchObject({ version: 2, fields: { to: "Rome" } });
  });

  it("[MCP-TOOLS] has one create for all past 12 intakes, and both kinds can be called", async () => {
    const many = await emptyServer();
    for (let n = 1; n <= 12; n++) await many.putIntake({ id: `form${n}` });
    const host = await connectHost(many.url);
    expect(await namesFor(host)).toHaveLength(VERBS.length + 12);
    await many.putIntake({ id: "form13" });
    expect(await namesFor(host)).toEqual(GENERIC);
    const made = await host.done("formbridge_create_submission", { intakeId: "form13", initialFields: { note: "x" } });
    expect(made).toMatchObject({ missingFields: ["name"], toFill: [{ path: "name", type: "string" }] });
    const { resumeToken } = made;
    const set = await host.done("formbridge_set_fields", { resumeToken, fields: { name: "Ada" } });
    await host.done("formbridge_form13_validate", { resumeToken: set.resumeToken });
    const listed = await host.done("formbridge_list_intakes", {});
    expect(listed.items).toHaveLength(13);
    await host.close();
    await many.stop();
  });

  it.each([
    ["generic", GENERIC],
    ["intake", [...GENERIC, ...SUFFIXES.map((suffix) => `formbridge_one_${suffix}`)].toSorted()],
  ])("[MCP-TOOLS] is what FORMBRIDGE_MCP_TOOLS=%s says", async (mode, expected) => {
    const set = await emptyServer({ FORMBRIDGE_MCP_TOOLS: mode });
    await set.putIntake({ id: "one" });
    const host = await connectHost(set.url);
    expect(await namesFor(host)).toEqual(expected);
    await host.close();
    await set.stop();
  });

  it("[MCP-TOOLS] does not exist with FORMBRIDGE_MCP=off", async () => {
    const off = await emptyServer({ FORMBRIDGE_MCP: "off" });
    const reply = await off.call("POST", "/mcp", { body: {} });
    expect({ status: reply.status, type: reply.body.error.type }).toEqual({ status: 404, type: "not_found" });
    await off.stop();
  });

  it("[MCP-RIGHTS] has the intakes of the caller's tenant, and of its key", async () => {
    const shared = await emptyServer();
    for (const id of ["mine", "theirs"]) await shared.putIntake({ id, access: "key" });
    const actor = { kind: "human", id: "boss" } as const;
    const acme = await shared.makeKey({ roles: ["admin"], actor, tenant: "acme" });
    await shared.putIntake({ id: "acmes", access: "key" }, acme);
    const some = await shared.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" }, intakes: ["mine"] });
    const intakesOf = async (key: string) => {
      const host = await connectHost(shared.url, { key });
      const names = (await namesFor(host)).filter((name) => name.endsWith("_create"));
      await host.close();
      return names;
    };
    expect(await intakesOf(shared.adminKey)).toEqual(["formbridge_mine_create", "formbridge_theirs_create"]);
    expect(await intakesOf(acme)).toEqual(["formbridge_acmes_create"]);
    expect(await intakesOf(some)).toEqual(["formbridge_mine_create"]);
    await shared.stop();
  });

  it("[MCP-RIGHTS] is limited for callers who guess tokens, as over HTTP", async () => {
    const strict = await emptyServer({ FORMBRIDGE_RATE_LIMIT: "on" });
    await strict.putIntake({ id: "note" });
    const host = await connectHost(strict.url);
    const guess = { resumeToken: `rtok_${"x".repeat(43)}` };
    for (let n = 0; n < 10; n++) await host.refused("formbridge_note_status", guess, "token_invalid");
    const { error } = await host.refused("formbridge_note_status", guess, "rate_limited");
    expect(error.retryAfterMs).toBeGreaterThan(0);
    await host.close();
    await strict.stop();
  });

  it("[MCP-TOOLS] an intake may have the name of half a generic tool", async () => {
    const odd = await emptyServer();
    for (const id of ["request", "get"]) await odd.putIntake({ id });
    const host = await connectHost(odd.url);
    const { resumeToken } = await host.done("formbridge_get_create", {});
    expect(await host.done("formbridge_get_events", { resumeToken })).toMatchObject({ ok: true });
    // The tool listed under the name is the one that is called.
    await host.refused("formbridge_request_upload", { resumeToken, ...aFile }, "invalid");
    await host.refused("formbridge_request_submit", { resumeToken, idempotencyKey: "k" }, "token_invalid");
    await host.close();
    await odd.stop();
  });

  it("[MCP-ANNOTATED] says of each what it does", async () => {
    for (const { name, annotations } of await admin.tools()) {
      expect(Object.keys(annotations).toSorted(), name).toEqual([
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
        "readOnlyHint",
        "title",
      ]);
      expect(annotations.readOnlyHint, name).toBe(READING.includes(name));
      expect(annotations.destructiveHint, name).toBe(/_(abandon_upload|submit|cancel|review)$/.test(name));
    }
  });

  it("[MCP-SCHEMA] describes the fields of the intake", async () => {
    const tool = (await admin.tools()).find(({ name }) => name === "formbridge_trip_plan_create");
    expect(tool?.title).toBe("Trip: Start a submission");
    expect(tool?.description).toContain("Where to, and when.");
    expect(tool?.description).toContain("lives 7 days");
    const { initialFields } = (tool as Loose).inputSchema.properties;
    expect(initialFields.properties.to).toEqual({
      type: "string",
      title: "Destination",
      description: "A town.",
      examples: ["Rome"],
    });
    expect(Object.keys(initialFields.properties)).toEqual(["to", "when", "pin", "notes"]);
    expect(initialFields.description).toContain("Only a human may set (formbridge_handoff): consent");
  });

  it("[MCP-FLAT] has plain objects only", async () => {
    for (const { name, inputSchema } of await admin.tools()) {
      expect(inputSchema.type, name).toBe("object");
      expect(Object.keys(inputSchema).toSorted().join(), name).toMatch(
        /^additionalProperties,properties(,required)?,type$/,
      );
    }
  });

  it("[MCP-TOOLS] has a set for each intake past 12 too, where it is set so", async () => {
    const many = await emptyServer({ FORMBRIDGE_MCP_TOOLS: "intake" });
    for (let n = 1; n <= 13; n++) await many.putIntake({ id: `form${n}` });
    const { headers, body } = rpcRequest("tools/list");
    const list = () => many.call("POST", "/mcp", { headers, body });
    expect((await list()).body.result.tools).toHaveLength(143 + GENERIC.length);
    await many.stop();
  });
});

describe("tools that do not exist", () => {
  it.each([
    "nothing",
    "",
    "formbridge_",
    "formbridge_nothing_set",
    "formbridge__set",
    "formbridge_secret_set",
    "constructor",
  ])("[MCP-UNKNOWN] %s is an error of the protocol", async (name) => {
    await expect(anybody.client.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });
});

it("[RUNNING-INTAKES-RETIRE] the tools of a retired intake are not listed, and still work for existing submissions, with a key or without", async () => {
  const { server } = scene;
  for (const caller of [admin, anybody]) {
    await server.putIntake({ id: "leaving" });
    const { resumeToken } = await caller.done("formbridge_leaving_create", {});
    await server.call("DELETE", "/intakes/leaving", { key: server.adminKey });
    expect(await namesFor(caller)).not.toContain("formbridge_leaving_set");
    const { items } = await caller.done("formbridge_list_intakes", {});
    expect(items.map(({ id }: Loose) => id)).not.toContain("leaving");
    await caller.refused("formbridge_leaving_create", {}, "not_found");
    const set = await caller.done("formbridge_leaving_set", { resumeToken, fields: { name: "Ada" } });
    expect(set.version).toBe(2);
  }
});
