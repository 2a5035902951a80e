import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import { type Host, rpcRequest } from "../support/mcp.ts";
import { type Scene, startScene } from "./scene.ts";

let scene: Scene;
let server: TestServer;
let anybody: Host;
beforeAll(async () => {
  scene = await startScene();
  ({ server, anybody } = scene);
});
afterAll(() => scene.stop());

/** About four characters a token. */
const tokensOf = (value: unknown): number => JSON.stringify(value).length / 4;

describe("a response", () => {
  it("[MCP-SHORT] lists what is missing in schema order, described", async () => {
    const made = await anybody.done("formbridge_trip_plan_create", {});
    expect(made.missingFields).toEqual(["to", "when", "consent", "pin"]);
    expect(made.toFill).toEqual([
      { path: "to", type: "string", title: "Destination", description: "A town." },
      { path: "when", type: "string", format: "date" },
      { path: "consent", type: "boolean", fill: "human" },
      { path: "pin", type: "string" },
    ]);
    expect(made.validationErrors).toEqual([]);
    expect(made.schema).toBeUndefined();
  });

  it("[MCP-SHORT] stays short whatever was written, and long with verbose", async () => {
    const long = "x".repeat(20_000);
    const made = await anybody.done("formbridge_trip_plan_create", { initialFields: { notes: long, when: "soon" } });
    const { resumeToken } = await anybody.done("formbridge_trip_plan_set", {
      resumeToken: made.resumeToken,
      fields: { notes: `${long}y` },
    });
    for (const suffix of ["status", "validate", "events", "handoff"]) {
      const answer = await anybody.done(`formbridge_trip_plan_${suffix}`, { resumeToken });
      expect(tokensOf(answer), suffix).toBeLessThan(600);
    }
    const short = await anybody.done("formbridge_trip_plan_status", { resumeToken });
    expect(short.fieldsSet).toEqual(["notes", "when"]);
    const { headers: _headers, ...whole } = await server.call("GET", `/resume/${resumeToken}`);
    expect(await anybody.done("formbridge_trip_plan_status", { resumeToken, verbose: true })).toEqual(whole.body);
  });

  it("[MCP-SHORT] stays short when much is missing, wrong or in conflict", async () => {
    const names = Array.from({ length: 200 }, (_, n) => `field_with_a_long_name_${n}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: "integer" }]));
    await server.putIntake({ id: "wide", schema: { type: "object", properties, required: names } });
    const made = await anybody.done("formbridge_wide_create", {});
    expect(made).toMatchObject({ missingCount: 200 });
    expect(tokensOf(made)).toBeLessThan(800);
    const wrong = Object.fromEntries(names.map((name) => [name, "no number ".repeat(100)]));
    const set = await anybody.done("formbridge_wide_set", { resumeToken: made.resumeToken, fields: wrong });
    expect(tokensOf(set)).toBeLessThan(1800);
    const submit = { resumeToken: set.resumeToken, idempotencyKey: "wide" };
    expect(tokensOf(await anybody.refused("formbridge_wide_submit", submit, "invalid"))).toBeLessThan(7000);
    const late = { resumeToken: made.resumeToken, fields: { [names[0] ?? ""]: 1 } };
    expect(tokensOf(await anybody.refused("formbridge_wide_set", late, "token_conflict"))).toBeLessThan(1200);
  });

  it("[MCP-STALE] merges inside of objects", async () => {
    const place = { type: "object", properties: { city: { type: "string" }, zip: { type: "string" } } };
    await server.putIntake({ id: "place", schema: { type: "object", properties: { place } } });
    const made = await anybody.done("formbridge_place_create", {});
    const { resumeToken } = made;
    await anybody.done("formbridge_place_set", { resumeToken, fields: { "place.city": "Rome" } });
    const fields = { place: { city: "Oslo", zip: "0150" } };
    const { error } = await anybody.refused("formbridge_place_set", { resumeToken, fields }, "token_conflict");
    expect(error.proposal.arguments.fields).toEqual({ place: { zip: "0150" } });
    expect(error.proposal.changed).toEqual([
      expect.objectContaining({ path: "place.city", yours: "Oslo", theirs: "Rome" }),
    ]);
    const merged = await anybody.done(error.proposal.tool, { ...error.proposal.arguments, verbose: true });
    expect(merged.fields).toEqual({ place: { city: "Rome", zip: "0150" } });
  });

  it("[MCP-STALE] shows both values of a field whose name has a dot", async () => {
    await server.putIntake({
      id: "dots",
      schema: { type: "object", properties: { "place.city": { type: "string" } } },
    });
    const { resumeToken } = await anybody.done("formbridge_dots_create", {});
    await anybody.done("formbridge_dots_set", { resumeToken, fields: { "place.city": "Rome" } });
    const args = { resumeToken, fields: { "place.city": "Oslo" } };
    const { error } = await anybody.refused("formbridge_dots_set", args, "token_conflict");
    expect(error.proposal.changed).toEqual([
      expect.objectContaining({ path: "place.city", yours: "Oslo", theirs: "Rome" }),
    ]);
  });

  it("[MCP-SHORT] about an intake is its fields, and with verbose its definition", async () => {
    const { intake } = await anybody.done("formbridge_get_intake", { intakeId: "trip_plan" });
    expect(intake.fields[0]).toMatchObject({ path: "to", required: true });
    expect(intake.schema).toBeUndefined();
    const whole = await anybody.done("formbridge_get_intake", { intakeId: "trip_plan", verbose: true });
    expect(whole).toEqual((await server.call("GET", "/intakes/trip_plan")).body);
  });

  it("[MCP-ERROR] says who may fill what an agent may not", async () => {
    const { resumeToken } = await anybody.done("formbridge_trip_plan_create", {});
    const args = { resumeToken, fields: { consent: true } };
    const { error } = await anybody.refused("formbridge_trip_plan_set", args, "invalid");
    expect(error.nextActions[0].hint).toContain("formbridge_handoff");
  });

  it("[MCP-ERROR] masks what is sensitive where HTTP does", async () => {
    const made = await anybody.done("formbridge_trip_plan_create", { initialFields: { pin: "4711-secret" } });
    await anybody.done("formbridge_trip_plan_set", { resumeToken: made.resumeToken, fields: { pin: "4712-secret" } });
    const args = { resumeToken: made.resumeToken, fields: { pin: "mine" } };
    const { error } = await anybody.refused("formbridge_trip_plan_set", args, "token_conflict");
    expect(JSON.stringify(error)).not.toMatch(/471[12]-secret/);
  });

  it("[MCP-ANSWER] leads a file from its announcement to its field", async () => {
    const made = await anybody.done("formbridge_files_create", {});
    const bytes = Buffer.from("%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n");
    const announced = await anybody.done("formbridge_files_upload", {
      resumeToken: made.resumeToken,
      field: "pdf",
      filename: "a.pdf",
      mimeType: "application/pdf",
      sizeBytes: bytes.length,
    });
    const sent = await fetch(announced.url, { method: announced.method, headers: announced.headers, body: bytes });
    expect(sent.ok).toBe(true);
    const { resumeToken, uploadId } = announced;
    const confirmed = await anybody.done("formbridge_files_confirm", { resumeToken, uploadId });
    const { fields } = await anybody.done("formbridge_files_status", { resumeToken: confirmed.resumeToken });
    expect(fields.pdf).toMatchObject({ uploadId, filename: "a.pdf" });
  });

  it("[MCP-ANSWER] is the same by the fast path and by the SDK", async () => {
    const call = async (meta: Loose) => {
      const args = { initialFields: { to: "Rome" }, actor: { kind: "agent", id: "same" } };
      const { headers, body } = rpcRequest(
        "tools/call",
        { name: "formbridge_trip_plan_create", arguments: args },
        meta,
      );
      return (await server.call("POST", "/mcp", { headers, body })).body;
    };
    // A progress token makes it a call that the SDK serves.
    const [short, whole] = [await call({}), await call({ progressToken: 7 })];
    const withoutIds = (message: Loose) => JSON.parse(JSON.stringify(message).replaceAll(/(?:sub|rtok)_[\w-]+/g, "…"));
    expect(withoutIds(short)).toEqual(withoutIds(whole));
    expect(short.result.resultType).toBe("complete");
  });

  it.each([{}, { "mcp-protocol-version": "2025-11-25" }])(
    "[MCP-ANSWER] a list is the same by both paths, %o",
    async (version: Record<string, string>) => {
      const list = async (params: Loose) => {
        const made = rpcRequest("tools/list");
        const body = "mcp-protocol-version" in version ? { ...made.body, params } : made.body;
        // Another type of the same meaning is not plain.
        const type = params._meta === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
        const reply = await server.call("POST", "/mcp", { headers: { ...made.headers, ...version, ...type }, body });
        return typeof reply.body === "string" ? JSON.parse(/data: (.*)/.exec(reply.body)?.[1] ?? "") : reply.body;
      };
      const [short, whole] = [await list({}), await list({ _meta: {} })];
      expect(short.result.tools.length).toBeGreaterThan(10);
      expect(short).toEqual(whole);
    },
  );

  it("[MCP-ANSWER] of a client that says no more than it must is the same, too", async () => {
    const reply = await server.call("POST", "/mcp", {
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" },
      body: { jsonrpc: "2.0", id: "a", method: "tools/list" },
    });
    expect(Object.keys(reply.body.result)).toEqual(["tools"]);
    expect(reply.body.id).toBe("a");
  });
});
