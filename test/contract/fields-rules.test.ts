import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  allOf,
  create,
  expectError,
  filled,
  HUMAN,
  record,
  setFields,
  submit,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;
let agentKey: string;
let humanKey: string;

const text = { type: "string" };
const file = { "x-file": { accept: ["application/pdf"], maxBytes: 1000 } };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const listOf = (items: object) => ({ type: "array", items });
const reference = {
  uploadId: "upl_01977d3e-8c00-7000-8000-000000000001",
  filename: "w9.pdf",
  mimeType: "application/pdf",
  sizeBytes: 3,
  sha256: "0".repeat(64),
};

beforeAll(async () => {
  server = await startTestServer();
  const signature = { ...text, "x-fill": "human" };
  await server.putIntake({
    id: "filled-by",
    schema: object({
      name: text,
      signature,
      score: { type: "number", "x-fill": "agent" },
      person: object({ signature }),
      witnesses: listOf(object({ name: text, signature })),
      consent: object({ given: text, on: text }, { "x-fill": "human" }),
      "consent.note": signature,
    }),
  });
  const secret = { ...text, minLength: 5, "x-sensitive": true };
  await server.putIntake({
    id: "sensitive",
    schema: object(
      { name: text, ssn: secret, person: object({ pin: secret }), people: listOf(object({ id: text, pin: secret })) },
      { required: ["name"] },
    ),
  });
  await server.putIntake({
    id: "files",
    schema: object({
      name: text,
      w9: file,
      docs: { "x-file": { ...file["x-file"], maxFiles: 3 } },
      items: listOf(object({ receipt: file })),
    }),
  });
  agentKey = await server.makeKey({ roles: ["agent"], actor: AGENT });
  humanKey = await server.makeKey({ roles: ["agent"], actor: HUMAN });
});
afterAll(() => server.stop());

describe("who may fill a field", () => {
  const humanOnly: [Record<string, unknown>, string][] = [
    [{ signature: "A" }, "signature"],
    [{ person: { signature: "A" } }, "person.signature"],
    [{ "person.signature": "A" }, "person.signature"],
    [{ consent: { given: "yes" } }, "consent"],
    [{ witnesses: [{ name: "W", signature: "A" }] }, "witnesses.0.signature"],
  ];

  it.each(humanOnly)("[FIELDS-HUMAN-ONLY] an agent that sets %j gets a 422", async (fields, path) => {
    const { submissionId, resumeToken } = await create(server, "filled-by", { key: agentKey });
    for (const options of [{}, { key: agentKey }]) {
      const reply = await unchangedBy(server, submissionId, () =>
        setFields(server, resumeToken, { name: "x", ...fields }, options),
      );
      const error = expectError(reply, 422, "invalid");
      expect(error.fields.map((field: Loose) => field.path).join()).toContain(path);
    }
    const body = { actor: AGENT, initialFields: fields };
    expectError(await server.call("POST", "/intakes/filled-by/submissions", { body }), 422, "invalid");
  });

  it.each(humanOnly)("[FIELDS-HUMAN-ONLY] a human's key sets %j", async (fields) => {
    const { resumeToken } = await create(server, "filled-by", { key: agentKey });
    expect((await setFields(server, resumeToken, fields, { key: humanKey })).status).toBe(200);
  });

  it("[FIELDS-HUMAN-ONLY] an agent can't remove what a human set", async () => {
    const { submissionId, resumeToken } = await create(server, "filled-by", {
      key: humanKey,
      fields: { signature: "Ada" },
    });
    const reply = await unchangedBy(server, submissionId, () => setFields(server, resumeToken, { signature: null }));
    expectError(reply, 422, "invalid");
  });

  it("[FIELDS-HUMAN-ONLY] a name with a dot does not bypass the rules of the field before it", async () => {
    const { submissionId, resumeToken } = await create(server, "filled-by", {
      key: humanKey,
      fields: { consent: { given: "yes" } },
    });
    const reply = await unchangedBy(server, submissionId, () =>
      setFields(server, resumeToken, { "consent.note": "A" }, { key: agentKey }),
    );
    const [field] = expectError(reply, 422, "invalid").fields;
    expect(field).toMatchObject({ path: "consent.note", message: "consent.note can only be set by a human." });
  });

  it("[FIELDS-HUMAN-ONLY] [FIELDS-ATTRIBUTION] a value that an agent sends back unchanged stays the human's", async () => {
    const fields = { signature: "Ada", consent: { given: "yes" } };
    const { submissionId, resumeToken } = await create(server, "filled-by", { key: humanKey, fields });
    const reply = await setFields(server, resumeToken, { ...fields, name: "Ada" }, { key: agentKey });
    expect(reply.status).toBe(200);
    expect(reply.body.updatedFields).toEqual(["name"]);
    const { attribution } = await record(server, submissionId);
    expect(attribution.signature).toMatchObject({ actor: HUMAN, version: 1 });
    expect(attribution["consent.given"]).toMatchObject({ actor: HUMAN, version: 1 });
    expect(attribution.name).toMatchObject({ actor: AGENT, version: 2 });
  });

  it("[FIELDS-HUMAN-ONLY] the key of an agent that acts for a human is no human's key", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "desk" }, actsFor: ["ada"] });
    const { submissionId, resumeToken } = await create(server, "filled-by", { key: agentKey });
    const reply = await unchangedBy(server, submissionId, () =>
      setFields(server, resumeToken, { signature: "A" }, { key, body: { actor: HUMAN } }),
    );
    expectError(reply, 422, "invalid");
  });

  it("[FIELDS-HUMAN-ONLY] a submit that lacks one says to hand over, also where its name has a dot", async () => {
    const signature = { ...text, "x-fill": "human" };
    const schema = object({ signature, "oath.text": signature }, { required: ["signature", "oath.text"] });
    await server.putIntake({ id: "sworn", schema });
    const { resumeToken } = await create(server, "sworn");
    expect(expectError(await submit(server, resumeToken), 422, "missing").nextActions).toMatchObject([
      { action: "request_handoff", field: "signature" },
      { action: "request_handoff", field: "oath.text" },
    ]);
  });

  it("[FIELDS-AGENT-ONLY] a human can't set an agent-only field", async () => {
    const { submissionId, resumeToken } = await create(server, "filled-by", { key: agentKey });
    for (const options of [{ key: humanKey }, { body: { actor: HUMAN } }]) {
      const reply = await unchangedBy(server, submissionId, () =>
        setFields(server, resumeToken, { score: 1 }, options),
      );
      expect(expectError(reply, 422, "invalid").fields[0].path).toBe("score");
    }
    expect((await setFields(server, resumeToken, { score: 1 }, { key: agentKey })).status).toBe(200);
  });
});

describe("sensitive values", () => {
  const secrets = { ssn: "s3cret-ssn", person: { pin: "s3cret-pin" }, people: [{ id: "p1", pin: "s3cret-item" }] };

  it("[FIELDS-SENSITIVE-MASKED] events and lists show them masked, at any depth", async () => {
    const made = await create(server, "sensitive", { fields: secrets });
    await filled(server, made.resumeToken, { "person.pin": "s3cret-again", "people.0.pin": "s3cret-index" });
    const path = `/submissions/${made.submissionId}`;
    const key = server.adminKey;
    const shown = [
      await server.call("GET", `${path}/events?stream=all&proof=true`, { key }),
      await server.call("GET", `${path}/events`, { key, headers: { accept: "application/x-ndjson" } }),
      await server.call("GET", "/events?limit=1000", { key }),
      await server.call("GET", "/submissions?fields=true", { key }),
    ];
    for (const reply of shown) {
      expect(reply.status).toBe(200);
      expect(allOf(reply)).toContain("people");
      expect(allOf(reply)).not.toContain("s3cret");
    }
    expect((await record(server, made.submissionId)).fields.person.pin).toBe("s3cret-again");
  });

  it("[FIELDS-ERROR-MASKED] [FIELDS-SENSITIVE-MASKED] errors, hints and their events don't show them", async () => {
    const wrong = { ssn: "s3c", person: { pin: "p1n" }, people: [{ id: "p1", pin: "1tm" }] };
    const made = await create(server, "sensitive", { fields: wrong });
    expect(made.validationErrors.map((error: Loose) => error.path).sort()).toEqual([
      "name",
      "people.0.pin",
      "person.pin",
      "ssn",
    ]);
    const checked = await server.call("POST", `/resume/${made.resumeToken}/validate`);
    const refused = await submit(server, made.resumeToken);
    expect(refused.status).toBe(422);
    const events = await server.call("GET", `/resume/${made.resumeToken}/events?types=validation.failed`);
    expect(events.body.events).toHaveLength(2);
    for (const shown of [JSON.stringify(made.validationErrors), allOf(checked), allOf(refused), allOf(events)]) {
      for (const secret of ["s3c", "p1n", "1tm"]) expect(shown).not.toContain(`"${secret}"`);
    }
  });
});

describe("file fields", () => {
  const forged: [Record<string, unknown>, string][] = [
    [{ w9: reference }, "w9"],
    [{ w9: { uploadId: reference.uploadId } }, "w9"],
    [{ w9: "w9.pdf" }, "w9"],
    [{ docs: [reference] }, "docs"],
    [{ "docs.0": reference }, "docs"],
    [{ items: [{ receipt: reference }] }, "items.0.receipt"],
    [{ "items.0.receipt": reference }, "items.0.receipt"],
    [{ "items.0": { receipt: reference } }, "items.0.receipt"],
    [{ items: [{}, { receipt: [reference] }] }, "items.1.receipt"],
    [{ items: { "0": { receipt: reference } } }, "items.0.receipt"],
    [{ w9: [reference] }, "w9"],
    [{ w9: { uploadId: reference.uploadId, filename: null } }, "w9"],
  ];

  it.each(forged)("[FIELDS-FILE-FORGED] %j is a 422 that stores nothing", async (fields, path) => {
    const { submissionId, resumeToken } = await create(server, "files");
    const reply = await unchangedBy(server, submissionId, () =>
      setFields(server, resumeToken, { name: "x", ...fields }),
    );
    const error = expectError(reply, 422, "invalid");
    expect(error.fields.map((field: Loose) => field.path).join()).toContain(path);
    const body = { actor: AGENT, initialFields: fields };
    expectError(await server.call("POST", "/intakes/files/submissions", { body }), 422, "invalid");
  });
});
