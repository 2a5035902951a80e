import { DEFAULT_POLICY } from "@formbridge/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import type { Host } from "../support/mcp.ts";
import { history, record } from "../support/submissions.ts";
import { type Scene, startScene } from "./scene.ts";

let scene: Scene;
let server: TestServer;
let admin: Host;
let anybody: Host;
beforeAll(async () => {
  scene = await startScene();
  ({ server, admin, anybody } = scene);
});
afterAll(() => scene.stop());

/** Everything stored about a submission: what must not change. */
const kept = async (submissionId: string) => [await record(server, submissionId), await history(server, submissionId)];

const BIG = "x".repeat(600);

describe("invalid arguments", () => {
  /** Every tool with every argument of a wrong type, unknown ones, and the required ones left out. */
  it("[MCP-ARGUMENTS] are named, for every tool and argument, and change nothing", async () => {
    const made = await anybody.done("formbridge_trip_plan_create", { initialFields: { to: "Rome" } });
    const before = await kept(made.submissionId);
    const good: Record<string, Loose> = {
      resumeToken: made.resumeToken,
      fields: { to: "Oslo" },
      field: "scan",
      filename: "a.pdf",
      mimeType: "application/pdf",
      sizeBytes: 9,
      uploadId: "upl_1",
      idempotencyKey: "k",
      intakeId: "trip_plan",
    };
    let tried = 0;
    for (const { name, inputSchema } of await everyTool()) {
      const { properties, required = [] } = inputSchema as Loose;
      const takes = Object.fromEntries(
        Object.entries(good).filter(([argument]) => Object.hasOwn(properties, argument)),
      );
      for (const argument of Object.keys(properties)) {
        const { body, isError } = await anybody.call(name, { ...takes, [argument]: wrongFor(properties[argument]) });
        expect({ isError, type: body.error?.type, path: body.error?.fields?.[0].path }, `${name} ${argument}`).toEqual({
          isError: true,
          type: "bad_request",
          path: argument,
        });
        tried += 1;
      }
      // What the operation itself requires, with its own message.
      const asked = ["idempotencyKey", "resumeToken"];
      for (const argument of required.filter((one: string) => !asked.includes(one))) {
        const { [argument]: _left, ...rest } = takes;
        const { error } = await anybody.refused(name, rest, "bad_request");
        expect(error.fields[0]).toMatchObject({ path: argument, code: "required" });
      }
      const { error } = await anybody.refused(name, { ...takes, surprise: 1 }, "bad_request");
      expect(error.fields[0].path).toBe("surprise");
    }
    expect(tried).toBeGreaterThan(100);
    expect(await kept(made.submissionId)).toEqual(before);
  });

  const audience = { writes: true, reviews: false, needsToken: true };

  /** The shared tools, and those of one intake, whether they are listed or not. */
  async function everyTool(): Promise<Loose[]> {
    const { genericTools, intakeTools } = await import("../../packages/mcp/src/tools/advertise.ts");
    const { TOOLS } = await import("../../packages/mcp/src/tools/table.ts");
    const { body } = await scene.server.call("GET", "/intakes/trip_plan");
    const writes = TOOLS.filter((tool) => tool.suffix !== undefined && tool.audience === undefined);
    const options = { audience, tool: () => "a_tool", policy: DEFAULT_POLICY };
    return [...genericTools(writes, options), ...intakeTools(writes, body.intake, options)];
  }

  const wrongFor = ({ type }: Loose): unknown => (type === "boolean" ? "yes" : type === "string" ? { a: 1 } : "text");

  it.each([
    ["set", { fields: [1, 2] }],
    ["set", { fields: null }],
    ["set", { fields: {}, resumeToken: BIG }],
    ["set", { fields: {}, version: 0 }],
    ["set", { fields: {}, actor: { kind: "system", id: "x" } }],
    ["set", { fields: {}, actor: { kind: "agent" } }],
    ["create", { actor: { kind: "agent", id: BIG } }],
    ["create", { initialFields: "Rome" }],
    ["create", { intakeId: "secret" }],
    ["upload", { field: "", filename: "a", mimeType: "a/b", sizeBytes: 1 }],
    ["upload", { field: "scan", filename: BIG, mimeType: "a/b", sizeBytes: 1 }],
    ["upload", { field: "scan", filename: "a", mimeType: "pdf", sizeBytes: 1 }],
    ["upload", { field: "scan", filename: "a", mimeType: "a/b", sizeBytes: 1.5 }],
    ["handoff", { recipientEmail: "nobody" }],
    ["handoff", { kind: "pigeon" }],
    ["events", { limit: 5000 }],
    ["events", { stream: "river" }],
    ["cancel", { reason: "x".repeat(3000) }],
  ])("[MCP-ARGUMENTS] %s refuses %o", async (suffix, args) => {
    await anybody.refused(`formbridge_trip_plan_${suffix}`, args, "bad_request");
  });

  it.each([
    ["set", { fields: {} }, "token_required"],
    ["status", {}, "token_required"],
    ["status", { resumeToken: "rtok_short" }, "token_invalid"],
    ["set", { resumeToken: "nonsense", fields: {} }, "token_invalid"],
    ["set", { resumeToken: `rtok_${"x".repeat(43)}`, fields: {} }, "token_invalid"],
    ["cancel", { resumeToken: `rtok_${"x".repeat(43)}` }, "token_invalid"],
    ["create", { ttlMs: 5 }, "bad_request"],
    ["create", { idempotencyKey: "has a space in it, which no key may have" }, "bad_request"],
    ["create", { initialFields: { "a.__proto__.b": 1 } }, "bad_request"],
  ])("[MCP-ERROR] %s with %o is refused as over HTTP: %s", async (suffix, args, type) => {
    await anybody.refused(`formbridge_trip_plan_${suffix}`, args, type);
  });

  it("[MCP-ERROR] a token of another submission opens nothing of this one", async () => {
    const [one, other] = [
      await anybody.done("formbridge_trip_plan_create", {}),
      await anybody.done("formbridge_trip_plan_create", {}),
    ];
    const mixed = { submissionId: one.submissionId, resumeToken: other.resumeToken };
    await anybody.refused("formbridge_trip_plan_set", { ...mixed, fields: { to: "Oslo" } }, "token_invalid");
    await anybody.refused("formbridge_trip_plan_cancel", mixed, "token_invalid");
    await admin.refused("formbridge_trip_plan_status", mixed, "token_invalid");
    expect((await record(server, one.submissionId)).version).toBe(1);
  });
});
