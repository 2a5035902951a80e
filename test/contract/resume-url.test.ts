import { afterAll, beforeAll, expect, it } from "vitest";
import { type CallOptions, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { connectHost } from "../support/mcp.ts";
import { AGENT, HUMAN } from "../support/submissions.ts";
import { FILES_SCHEMA } from "../support/uploads.ts";

const PUBLIC = "https://forms.example.com/intake";

let server: TestServer;
const replies: Reply[] = [];

beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_PUBLIC_URL: PUBLIC, FORMBRIDGE_TRUST_PROXY: "1" } });
  await server.putIntake({ id: "open" });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(() => server.stop());

/** Makes a call, and keeps its response for the check. */
async function watched(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
  const reply = await server.call(method, path, options);
  replies.push(reply);
  return reply;
}

it("[TOKENS-URL] every response with a resumeToken, refusals included, has the form's URL for it", async () => {
  const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
  const made = (await watched("POST", "/intakes/open/submissions", { key, body: {} })).body;
  const path = `/submissions/${made.submissionId}`;
  await watched("GET", path, { key });
  await watched("GET", `/resume/${made.resumeToken}`);
  await watched("GET", `${path}/events`, { key });
  await watched("GET", `${path}/handoffs`, { key });
  await watched("POST", `/resume/${made.resumeToken}/handoffs`, { body: { actor: AGENT } });
  await watched("POST", `${path}/validate`, { key, body: {} });
  const set = { key, headers: { "idempotency-key": "set" }, body: { fields: { note: "x" }, version: 1 } };
  await watched("PATCH", `${path}/fields`, set);
  await watched("PATCH", `${path}/fields`, set);
  // Refusals: stale by token and by version, no version, another request under the key, not ready.
  await watched("PATCH", `/resume/${made.resumeToken}`, { body: { actor: HUMAN, fields: {} } });
  await watched("PATCH", `${path}/fields`, { key, body: { fields: {}, version: 1 } });
  await watched("PATCH", `${path}/fields`, { key, body: { fields: {} } });
  await watched("PATCH", `${path}/fields`, { ...set, body: { fields: { note: "y" }, version: 2 } });
  await watched("POST", `${path}/submit`, { key, body: { version: 2, idempotencyKey: "submit" } });
  await watched("POST", `${path}/submit`, { key, body: { version: 2, idempotencyKey: "submit" } });
  await watched("POST", `${path}/tokens/reissue`, { key, body: {} });
  await watched("PATCH", `${path}/fields`, { key, body: { fields: { name: "Ada" }, version: 3 } });
  await watched("POST", `${path}/submit`, { key, body: { version: 4, idempotencyKey: "submit-2" } });
  const files = (await watched("POST", "/intakes/files/submissions", { key, body: {} })).body;
  const file = { field: "pdf", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 9, version: 1 };
  await watched("POST", `/submissions/${files.submissionId}/uploads`, { key, body: file });
  await watched("DELETE", `/submissions/${files.submissionId}`, { key });
  for (const { body } of replies) {
    const { resumeToken } = body;
    expect(body.resumeUrl, JSON.stringify(body)).toBe(resumeToken && `${PUBLIC}/resume/${resumeToken}`);
  }
  expect(replies.filter(({ body }) => body.ok === true && body.resumeUrl !== undefined).length).toBeGreaterThan(12);
  expect(replies.filter(({ body }) => body.ok === false && body.resumeUrl !== undefined).length).toBeGreaterThan(5);
});

it("[TOKENS-URL] so do the results of tools", async () => {
  const local = await startTestServer({ store: "memory" });
  try {
    await local.putIntake({ id: "open" });
    const host = await connectHost(local.url, { key: local.adminKey });
    const made = await host.done("formbridge_create_submission", { intakeId: "open" });
    expect(made.resumeUrl).toBe(`${local.url}/resume/${made.resumeToken}`);
    const { submissionId } = made;
    const refused = await host.refused("formbridge_set_fields", { submissionId, fields: {} }, "token_required");
    expect(refused.resumeUrl).toBe(made.resumeUrl);
    expect((await local.call("GET", new URL(made.resumeUrl).pathname)).status).toBe(200);
    await host.close();
  } finally {
    await local.stop();
  }
});
