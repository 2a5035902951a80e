import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokensOf } from "../../bench/tool-tokens.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { connectHost } from "../support/mcp.ts";
import { emptyServer } from "./scene.ts";

/** How much of a model's context a list of the six example intakes may use. */
const MAX_TOOLS = 20;
const MAX_TOKENS = 7_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ store: "memory" });
});
afterAll(() => server.stop());

async function listFor(key: string | undefined, url = server.url): Promise<Loose[]> {
  const host = await connectHost(url, key === undefined ? {} : { key });
  const tools = await host.tools();
  await host.close();
  return tools;
}

const namesOf = (tools: readonly Loose[]): string[] => tools.map(({ name }) => name);

const keyOf = (...roles: ("agent" | "reviewer" | "viewer")[]): Promise<string> =>
  server.makeKey({ roles, actor: { kind: "human", id: roles.join("-") } });

describe("the default list of the six example intakes", () => {
  it("[AUDIT-P1] has at most 20 tools and 7,000 tokens, for an admin who sees all of them", async () => {
    const tools = await listFor(server.adminKey);
    expect(namesOf(tools).filter((name) => name.endsWith("_create"))).toHaveLength(6);
    const { told } = tokensOf(tools as never);
    expect(told).toBeLessThanOrEqual(MAX_TOKENS);
    expect(tools.length).toBeLessThanOrEqual(MAX_TOOLS);
  });

  it("[AUDIT-P1] stays within 20 tools where a client does not say whether it shows apps", async () => {
    const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const reply = await server.call("POST", "/mcp", { headers, body, key: server.adminKey });
    const { tools } = reply.body.result;
    expect(namesOf(tools)).toContain("formbridge_form");
    expect(tools.length).toBeLessThanOrEqual(MAX_TOOLS);
    expect(tokensOf(tools).told).toBeLessThanOrEqual(MAX_TOKENS);
  });

  it("[AUDIT-P1] the tool names of the design documents can be called though they are not listed", async () => {
    const host = await connectHost(server.url, { key: server.adminKey });
    const own = (verb: string) => `formbridge_purchase-request_${verb}`;
    const made = await host.done(own("create"), { initialFields: { item: "Pens" } });
    const { resumeToken } = made;
    await host.done(own("validate"), { resumeToken });
    await host.done(own("status"), { resumeToken });
    await host.done(own("events"), { resumeToken });
    const set = await host.done(own("set"), { resumeToken, fields: { amount: 12 } });
    const file = { field: "nope", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 9 };
    await host.refused(own("upload"), { resumeToken: set.resumeToken, ...file }, "invalid");
    const sent = await host.done(own("submit"), { resumeToken: set.resumeToken, idempotencyKey: "pens" });
    expect(sent.state).toBe("finalized");
    await host.close();
  });

  it("[AUDIT-P1] a hundred intakes, and one of hundreds of fields, stay small too", async () => {
    const many = await emptyServer();
    const wide = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`field_${n}`, { type: "string", title: "A" }]),
    );
    await many.putIntake({ id: "wide", schema: { type: "object", required: ["field_0"], properties: wide } });
    const [create] = (await listFor(undefined, many.url)).filter(({ name }) => name === "formbridge_wide_create");
    expect(tokensOf([create]).told).toBeLessThan(400);
    expect(create.inputSchema.properties.initialFields.description).toContain("formbridge_get_intake");
    for (let n = 1; n < 100; n++) await many.putIntake({ id: `form${n}` });
    const tools = await listFor(undefined, many.url);
    expect(tools.length).toBeLessThanOrEqual(MAX_TOOLS);
    expect(tokensOf(tools as never).told).toBeLessThanOrEqual(MAX_TOKENS);
    expect(namesOf(tools)).toContain("formbridge_create_submission");
    await many.stop();
  });
});

describe("what an intake requires", () => {
  it("[AUDIT-P6] is stated by the create tool, nested members and conditions included, but not enforced", async () => {
    const create = (await listFor(server.adminKey)).find(({ name }) => name === "formbridge_vendor-onboarding_create");
    const { initialFields } = create.inputSchema.properties;
    expect(initialFields.description).toContain(
      "Required in the end: legal_name, country, tax_id, contact (name, email), address (street, city, postal_code), payment_terms.",
    );
    expect(initialFields.description).toContain("Depending on other values also: w9_document.");
    expect(initialFields.required).toBeUndefined();
    expect(initialFields.properties.legal_name.examples).toEqual(["Acme Supplies LLC"]);
    expect(initialFields.description).toContain("w9_document (application/pdf, image/png, image/jpeg, at most 10 MB)");
  });

  it("[AUDIT-P6] is shown by get_intake, with the members of objects and lists", async () => {
    const host = await connectHost(server.url, { key: server.adminKey });
    const { intake } = await host.done("formbridge_get_intake", { intakeId: "expense-report" });
    const field = (path: string) => intake.fields.find((each: Loose) => each.path === path);
    expect(field("period")).toMatchObject({
      required: true,
      members: [
        { path: "period.from", format: "date", required: true },
        { path: "period.to", format: "date", required: true },
      ],
    });
    expect(field("items").items.map(({ path, required, requiredIf }: Loose) => [path, required ?? requiredIf])).toEqual(
      [
        ["items.*.amount", true],
        ["items.*.date", true],
        ["items.*.category", true],
        ["items.*.note", true],
      ],
    );
    expect(field("purpose").required).toBeUndefined();
    await host.close();
  });
});

describe("by role", () => {
  const writes = /_create$|_(set_fields|submit|cancel|handoff|request_upload|confirm_upload|validate_submission)$/;

  it("[AUDIT-P10] viewers see no tool that writes, reviewers only their own", async () => {
    const forViewers = namesOf(await listFor(await keyOf("viewer")));
    expect(forViewers).toContain("formbridge_get_submission");
    expect(forViewers.filter((name) => writes.test(name) || name === "formbridge_review")).toEqual([]);
    const forReviewers = namesOf(await listFor(await keyOf("reviewer")));
    expect(forReviewers).toContain("formbridge_review");
    expect(forReviewers.filter((name) => writes.test(name))).toEqual([]);
    const forAgents = namesOf(await listFor(await keyOf("agent")));
    expect(forAgents).not.toContain("formbridge_review");
    expect(forAgents).toContain("formbridge_set_fields");
    const forBoth = namesOf(await listFor(await keyOf("agent", "reviewer")));
    expect(forBoth).toEqual(expect.arrayContaining(["formbridge_review", "formbridge_set_fields"]));
  });

  it("[AUDIT-P10] a reviewer decides by the tool", async () => {
    const agent = await connectHost(server.url, { key: await keyOf("agent") });
    const initialFields = {
      requester_email: "ada@example.com",
      system: "crm",
      access_level: "read",
      data_class: "restricted",
      reason: "The yearly audit of accounts",
    };
    const made = await agent.done("formbridge_it-access-request_create", { initialFields });
    const { resumeToken, submissionId } = made;
    await agent.done("formbridge_submit", { resumeToken, idempotencyKey: "review-me" });
    const reviewer = await connectHost(server.url, { key: await keyOf("reviewer") });
    await reviewer.refused("formbridge_review", { submissionId, decision: "rejected" }, "invalid");
    const unknown = { submissionId, decision: "rejected", fieldReasons: { nothing: "no" } };
    await reviewer.refused("formbridge_review", unknown, "invalid");
    const decided = await reviewer.done("formbridge_review", { submissionId, decision: "approved", comment: "Fine." });
    expect(decided).toMatchObject({ decision: "approved", state: "finalized", comment: "Fine." });
    await Promise.all([agent.close(), reviewer.close()]);
  });

  it("[REVIEWS-FIELD-REASONS] a rejection by the tool names fields, and the agent reads what to change", async () => {
    const agent = await connectHost(server.url, { key: await keyOf("agent") });
    const initialFields = {
      requester_email: "ada@example.com",
      system: "crm",
      access_level: "read",
      data_class: "restricted",
      reason: "The yearly audit of accounts",
    };
    const { resumeToken, submissionId } = await agent.done("formbridge_it-access-request_create", { initialFields });
    await agent.done("formbridge_submit", { resumeToken, idempotencyKey: "reject-me" });
    const reviewer = await connectHost(server.url, { key: await keyOf("reviewer") });
    const fieldReasons = { reason: "Which accounts?" };
    const decided = await reviewer.done("formbridge_review", { submissionId, decision: "rejected", fieldReasons });
    expect(decided).toMatchObject({ state: "rejected", fieldReasons });
    const seen = await agent.done("formbridge_get_submission", { submissionId });
    expect(seen.rejections).toMatchObject([{ reasons: [], fieldReasons }]);
    await Promise.all([agent.close(), reviewer.close()]);
  });

  it("[AUDIT-P2] a holder of a token without a key has tools listed, also where no intake is public", async () => {
    const closed = await emptyServer();
    await closed.putIntake({ id: "secret", access: "key" });
    const key = await closed.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
    const host = await connectHost(closed.url, { key });
    const { resumeToken } = await host.done("formbridge_secret_create", {});
    const holder = await connectHost(closed.url);
    const names = namesOf(await holder.tools());
    for (const name of ["formbridge_get_submission", "formbridge_set_fields", "formbridge_submit"]) {
      expect(names).toContain(name);
    }
    await holder.done("formbridge_set_fields", { resumeToken, fields: { name: "Ada" } });
    await Promise.all([host.close(), holder.close()]);
    await closed.stop();
  });

  it("[AUDIT-P5] resumeToken is required in the schema where nothing else opens a submission", async () => {
    const find = (tools: Loose[], name: string) => tools.find((tool) => tool.name === name)?.inputSchema;
    const keyless = await listFor(undefined);
    for (const name of ["formbridge_set_fields", "formbridge_submit", "formbridge_get_submission"]) {
      expect(find(keyless, name).required, name).toContain("resumeToken");
    }
    // With a key, submissionId and version are enough, too.
    const keyed = find(await listFor(server.adminKey), "formbridge_set_fields");
    expect(keyed.required).toEqual(["fields"]);
    expect(keyed.properties.resumeToken.description).toContain("submissionId");
  });
});
