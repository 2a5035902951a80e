import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailbox, handOff, visit, visitor } from "../support/handoffs.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  expectError,
  filled,
  HUMAN,
  history,
  record,
  setFields,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;
const mailbox = createMailbox();

beforeAll(async () => {
  server = await startTestServer({ mailer: mailbox });
  await server.putIntake({
    id: "people",
    schema: {
      type: "object",
      properties: {
        name: { type: "string" },
        address: { type: "object", properties: { city: { type: "string" }, zip: { type: "string" } } },
        tags: { type: "array", items: { type: "string" } },
        extra: { type: "object" },
      },
    },
  });
});
afterAll(() => server.stop());

/** The last field.updated of a submission. */
const lastUpdate = async (submissionId: string) =>
  (await history(server, submissionId)).filter(({ type }) => type === "field.updated").at(-1);

describe("a value that comes back as it was", () => {
  const fields = { name: "Ada", address: { city: "Bern", zip: "3000" }, tags: ["a", "b"], extra: { x: 1, y: [2] } };

  it("[AUDIT-F11] [FIELDS-ATTRIBUTION] keeps its author, and is in neither updatedFields nor field.updated", async () => {
    const made = await create(server, "people");
    const human = await visit(server, await handOff(server, made.resumeToken), HUMAN);
    const set = (await human.fill(fields, 1)).body;
    const agentKey = await server.makeKey({ roles: ["admin"], actor: AGENT });
    const sent = { ...fields, address: { city: "Rome", zip: "3000" }, extra: { y: [2], x: 1 } };
    const after = await server.call("PATCH", `/submissions/${made.submissionId}/fields`, {
      key: agentKey,
      body: { fields: sent, version: set.version },
    });
    expect(after.body).toMatchObject({ version: 3, updatedFields: ["address.city"] });
    expect((await lastUpdate(made.submissionId)).payload).toEqual({ fields: { "address.city": "Rome" }, removed: [] });
    const { attribution } = await record(server, made.submissionId);
    for (const path of ["name", "address.zip", "tags", "extra.x", "extra.y"]) {
      expect(attribution[path]).toMatchObject({ actor: HUMAN, version: 2 });
    }
    expect(attribution["address.city"]).toMatchObject({ actor: AGENT, version: 3 });
  });

  it("[AUDIT-F11] a write that changes nothing still rotates token and version", async () => {
    const made = await create(server, "people", { fields });
    const same = await filled(server, made.resumeToken, { ...fields, "address.city": "Bern" });
    expect(same).toMatchObject({ version: 2, updatedFields: [], fields });
    expect(same.resumeToken).not.toBe(made.resumeToken);
    expect((await lastUpdate(made.submissionId)).payload).toEqual({ fields: {}, removed: [] });
    const { attribution } = await record(server, made.submissionId);
    expect(Object.values(attribution)).toEqual(
      Object.keys(attribution).map(() => expect.objectContaining({ version: 1 })),
    );
  });

  it("[AUDIT-F11] the event of a deletion with a partial replacement lists what is gone", async () => {
    const made = await create(server, "people", { fields });
    const after = await filled(server, made.resumeToken, { address: null, "address.city": "Bern" });
    expect(after.fields.address).toEqual({ city: "Bern" });
    expect(after.updatedFields).toEqual(["address.zip"]);
    const { attribution } = await record(server, made.submissionId);
    expect(Object.keys(attribution).filter((path) => path.startsWith("address"))).toEqual(["address.city"]);
  });
});

describe("how a human was identified", () => {
  const proofs = async (submissionId: string): Promise<unknown> => {
    const { attribution } = await record(server, submissionId);
    const { actor } = await lastUpdate(submissionId);
    return [attribution.signature?.actor.proof, actor.proof];
  };

  beforeAll(async () => {
    for (const humanProof of ["link", "code"] as const) {
      await server.putIntake({
        id: `signed-${humanProof}`,
        humanProof,
        schema: { type: "object", properties: { signature: { type: "string", "x-fill": "human" }, name: {} } },
      });
    }
  });

  it("[AUDIT-F18] [FIELDS-PROOF] a link, a code and a key are distinguished, in attribution and events", async () => {
    const linked = await create(server, "signed-link");
    const byLink = await visit(server, await handOff(server, linked.resumeToken), HUMAN);
    expect((await byLink.fill({ signature: "Ada" }, 1)).status).toBe(200);
    expect(await proofs(linked.submissionId)).toEqual(["link", "link"]);

    const coded = await create(server, "signed-link");
    await handOff(server, coded.resumeToken, { kind: "magic_link", recipientEmail: "ada@example.com" });
    const byCode = await visitByCode(coded.submissionId);
    expect((await byCode.fill({ signature: "Ada" }, 1)).status).toBe(200);
    expect(await proofs(coded.submissionId)).toEqual(["code", "code"]);

    const key = await server.makeKey({ roles: ["agent"], actor: HUMAN });
    const keyed = await create(server, "signed-link", { key, fields: { signature: "Ada" } });
    expect(await proofs(keyed.submissionId)).toEqual(["key", "key"]);
  });

  it("[AUDIT-F18] an agent's key, or a declared actor, identifies no human", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: AGENT, actsFor: ["ada"] });
    const made = await create(server, "signed-link", { key });
    for (const options of [{ key, body: { actor: HUMAN } }, { body: { actor: HUMAN } }]) {
      const reply = await setFields(server, made.resumeToken, { signature: "Ada" }, options);
      const error = expectError(reply, 422, "invalid");
      expect(error.nextActions).toEqual([
        { action: "request_handoff", field: "signature", hint: expect.stringContaining("Hand the submission over") },
      ]);
    }
    expect((await record(server, made.submissionId)).createdBy).toEqual(AGENT);
  });

  it("[AUDIT-F18] [FIELDS-HUMAN-PROOF] an intake that requires a code refuses a link without one, and says what to do", async () => {
    const made = await create(server, "signed-code");
    const byLink = await visit(server, await handOff(server, made.resumeToken), HUMAN);
    expect((await byLink.fill({ name: "Ada" }, 1)).status).toBe(200);
    const refused = await unchangedBy(server, made.submissionId, () => byLink.fill({ signature: "Ada" }, 2));
    const error = expectError(refused, 422, "invalid");
    expect(error.nextActions).toMatchObject([{ action: "request_handoff", field: "signature", kind: "magic_link" }]);

    const { resumeToken } = await record(server, made.submissionId);
    await handOff(server, resumeToken, { kind: "magic_link", recipientEmail: "ada@example.com" });
    const byCode = await visitByCode(made.submissionId);
    expect((await byCode.fill({ signature: "Ada" }, 2)).status).toBe(200);
    expect(await proofs(made.submissionId)).toEqual(["code", "code"]);
    const key = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" } });
    const body = { fields: { signature: "Boss" }, version: 3 };
    expect((await server.call("PATCH", `/submissions/${made.submissionId}`, { key, body })).status).toBe(200);
  });
});

/** Opens the code of the last mail, with the session in a header. */
async function visitByCode(submissionId: string) {
  const reply = await server.call("POST", `/submissions/${submissionId}/sessions`, {
    body: { code: mailbox.lastCode(), email: "ada@example.com", carrier: "header" },
  });
  expect(reply.status).toBe(201);
  return visitor(server, submissionId, reply.body.session);
}
