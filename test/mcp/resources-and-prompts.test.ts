import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import type { Host } from "../support/mcp.ts";
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

describe("resources", () => {
  it("[MCP-RESOURCES] lists intakes and their schemas, and no token", async () => {
    const { resources } = await anybody.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "formbridge://intakes/files",
      "formbridge://intakes/files/schema",
      "formbridge://intakes/trip_plan",
      "formbridge://intakes/trip_plan/schema",
    ]);
    const { resourceTemplates } = await anybody.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "formbridge://intakes/{intakeId}",
      "formbridge://intakes/{intakeId}/schema",
      "formbridge://submissions/{submission}",
      "formbridge://submissions/{submission}/events",
    ]);
  });

  const read = async (host: Host, uri: string) => {
    const { contents } = await host.client.readResource({ uri });
    return JSON.parse((contents[0] as Loose).text);
  };

  it("[MCP-RESOURCES] are what HTTP gives", async () => {
    const made = await anybody.done("formbridge_trip_plan_create", { initialFields: { to: "Rome" } });
    const overHttp = async (path: string, key?: string) =>
      (await server.call("GET", path, key === undefined ? {} : { key })).body;
    expect(await read(anybody, "formbridge://intakes/trip_plan")).toEqual(await overHttp("/intakes/trip_plan"));
    expect(await read(anybody, "formbridge://intakes/trip_plan/schema")).toEqual(
      (await overHttp("/intakes/trip_plan/schema")).schema,
    );
    const byToken = `formbridge://submissions/${made.resumeToken}`;
    expect(await read(anybody, byToken)).toEqual(await overHttp(`/resume/${made.resumeToken}`));
    expect((await read(anybody, `${byToken}/events`)).events).toHaveLength(2);
    const byId = `formbridge://submissions/${made.submissionId}`;
    expect(await read(admin, byId)).toEqual(await overHttp(`/submissions/${made.submissionId}`, server.adminKey));
  });

  it.each([
    "formbridge://intakes/nothing",
    "formbridge://submissions/rtok_short",
    `formbridge://submissions/rtok_${"x".repeat(43)}`,
    "formbridge://submissions/sub_%",
    "formbridge://elsewhere/a",
    "file:///etc/passwd",
    "nonsense",
  ])("[MCP-UNKNOWN] %s does not exist", async (uri) => {
    await expect(anybody.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });

  it("[MCP-UNKNOWN] what is not for the caller looks as if it did not exist", async () => {
    const { submissionId } = await admin.done("formbridge_secret_create", {});
    const errorOf = (name: string) => anybody.client.readResource({ uri: name }).catch((error: Error) => error.message);
    const words = async (uri: string) => String(await errorOf(uri)).replaceAll(uri, "…");
    expect(await words("formbridge://intakes/secret")).toBe(await words("formbridge://intakes/nothing"));
    expect(await words(`formbridge://submissions/${submissionId}`)).toBe(
      await words(`formbridge://submissions/${submissionId.replace(/.$/, "0")}`),
    );
  });
});

describe("prompts", () => {
  it("[MCP-PROMPTS] explain how to fill an intake with the available tools", async () => {
    expect((await anybody.client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
      "fill_intake",
      "continue_submission",
    ]);
    const args = { intakeId: "trip_plan", known: "to Rome" };
    const { messages } = await anybody.client.getPrompt({ name: "fill_intake", arguments: args });
    const { text } = (messages[0] as Loose).content;
    expect(text).toContain("formbridge_trip_plan_create");
    expect(text).toContain("to Rome");
    expect(text).toContain("- consent (boolean, only a human may set it)");
  });

  it("[MCP-PROMPTS] explain how to continue a submission", async () => {
    const { messages } = await anybody.client.getPrompt({
      name: "continue_submission",
      arguments: { resumeToken: "rtok_abc" },
    });
    expect((messages[0] as Loose).content.text).toContain("formbridge_get_submission");
  });

  it.each([
    ["nothing", {}],
    ["fill_intake", {}],
    ["fill_intake", { intakeId: "nothing" }],
    ["fill_intake", { intakeId: "secret" }],
    ["continue_submission", {}],
  ])("[MCP-UNKNOWN] %s with %o is an error of the protocol", async (name, args) => {
    const asked = anybody.client.getPrompt({ name, arguments: args as Record<string, string> });
    await expect(asked).rejects.toMatchObject({ code: -32602 });
  });
});
