import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { handOff, visit } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { connectMcp, done } from "../support/mcp-host.ts";
import { HUMAN, record } from "../support/submissions.ts";

let server: TestServer;
let clients: Client[];
const SECRET = "078-05-1120";
const masked = { masked: true };

beforeAll(async () => {
  server = await startTestServer({ store: "memory" });
  const schema = {
    type: "object",
    properties: { name: { type: "string" }, ssn: { type: "string", "x-sensitive": true } },
  };
  await server.putIntake({ id: "hidden", schema });
  await server.putIntake({ id: "shown", schema, sensitive: { visibleToAgents: true } });
  const agent = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
  const human = await server.makeKey({ roles: ["agent"], actor: { kind: "human", id: "boss" } });
  clients = await Promise.all([agent, human, server.adminKey].map((key) => connectMcp(server, { key })));
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
});

/** Created by the client, then a human typed the secret. */
async function typed(client: Client, intake: string): Promise<Loose> {
  const made = await done(client, `formbridge_${intake}_create`, { initialFields: { name: "Ada" } });
  const human = await visit(server, await handOff(server, made.resumeToken), HUMAN);
  await human.fill({ ssn: SECRET }, 1);
  return made;
}

it("[AUDIT-F19] [FIELDS-MASKED] whatever the key, a model gets what a human typed masked, and can send it back", async () => {
  for (const client of clients) {
    const { submissionId } = await typed(client, "hidden");
    const read = await done(client, "formbridge_hidden_status", { submissionId, verbose: true });
    expect(read.fields).toEqual({ name: "Ada", ssn: masked });
    const { resumeToken } = read;
    const set = await done(client, "formbridge_hidden_set", { resumeToken, fields: { ...read.fields, name: "Grace" } });
    expect(set.updatedFields).toEqual(["name"]);
    expect(JSON.stringify(set)).not.toContain(SECRET);
    expect((await record(server, submissionId)).fields).toEqual({ name: "Grace", ssn: SECRET });
    const resource = await client.readResource({ uri: `formbridge://submissions/${submissionId}` });
    expect(JSON.stringify(resource)).not.toContain(SECRET);
  }
});

it("[AUDIT-F19] an intake can disable masking for models, too", async () => {
  for (const client of clients) {
    const { submissionId } = await typed(client, "shown");
    const read = await done(client, "formbridge_shown_status", { submissionId });
    expect(read.fields.ssn).toBe(SECRET);
  }
});
