import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
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

const text = { type: "string" };
const closed = (properties: object) => ({ type: "object", additionalProperties: false, properties });

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({
    id: "open",
    schema: {
      type: "object",
      properties: {
        name: text,
        nickname: { type: ["string", "null"] },
        age: { type: "integer", minimum: 0 },
        tags: { type: "array", items: text },
        address: { type: "object", properties: { city: text, zip: text } },
        "address.country": text,
        items: { type: "array", items: { type: "object", properties: { amount: { type: "number" } } } },
      },
    },
  });
  await server.putIntake({
    id: "closed",
    schema: closed({
      name: text,
      address: closed({ city: text }),
      items: { type: "array", items: closed({ amount: { type: "number" } }) },
    }),
  });
});
afterAll(() => server.stop());

/** The fields after patches, one after the other, as they are stored. */
async function storedAfter(intakeId: string, ...patches: (Record<string, unknown> | string)[]): Promise<Loose> {
  const { submissionId, resumeToken } = await create(server, intakeId);
  let token = resumeToken;
  for (const patch of patches) {
    const fields = typeof patch === "string" ? patch : JSON.stringify(patch);
    const raw = `{"actor":${JSON.stringify(AGENT)},"fields":${fields}}`;
    const reply = await server.call("PATCH", `/resume/${token}`, { raw });
    expect([reply.status, reply.body.error?.message]).toEqual([200, undefined]);
    token = reply.body.resumeToken;
    expect((await record(server, submissionId)).fields).toEqual(reply.body.fields);
  }
  return (await record(server, submissionId)).fields;
}

describe("a patch", () => {
  it("[FIELDS-MERGE] merges objects, replaces arrays, and null removes", async () => {
    const first = {
      name: "Ada",
      address: { city: "Bern", zip: "3000" },
      tags: ["a", "b"],
      extra: { deep: { x: 1, y: 2 } },
    };
    expect(
      await storedAfter("open", first, { address: { city: "Rome" }, tags: ["c"], extra: { deep: { x: null } } }),
    ).toEqual({
      name: "Ada",
      address: { city: "Rome", zip: "3000" },
      tags: ["c"],
      extra: { deep: { y: 2 } },
    });
    expect(await storedAfter("open", first, { name: null, address: null, tags: null, extra: null })).toEqual({});
  });

  it("[FIELDS-NULL-STORED] stores null where the property's own schema accepts it", async () => {
    expect(await storedAfter("open", { nickname: "A" }, { nickname: null })).toEqual({ nickname: null });
  });

  it("[FIELDS-NULL-UNDECLARED] removes an undeclared property that is null", async () => {
    expect(await storedAfter("open", { extra: 1, other: 2 }, { extra: null })).toEqual({ other: 2 });
    expect(await storedAfter("open", { other: 2, extra: null })).toEqual({ other: 2 });
  });

  it("[FIELDS-DOT-PATH] reaches inside by a dot-path, and makes what is not there", async () => {
    expect(await storedAfter("open", { "address.city": "Bern" }, { "address.zip": "3000", "extra.a.b": 1 })).toEqual({
      address: { city: "Bern", zip: "3000" },
      extra: { a: { b: 1 } },
    });
    expect(await storedAfter("open", { address: { city: "Bern", zip: "1" } }, { "address.zip": null })).toEqual({
      address: { city: "Bern" },
    });
  });

  it("[FIELDS-DOT-LITERAL] a declared name with a dot wins over the path", async () => {
    expect(await storedAfter("open", { "address.country": "CH" })).toEqual({ "address.country": "CH" });
  });

  it("[FIELDS-DOT-TOP-ONLY] below the top a dot is part of the name", async () => {
    expect(await storedAfter("open", { extra: { "a.b": 1 } })).toEqual({ extra: { "a.b": 1 } });
  });

  it("[FIELDS-PATCH-ORDER] applies its keys in the order given", async () => {
    expect(await storedAfter("open", '{"address":{"city":"Bern"},"address.city":"Rome"}')).toEqual({
      address: { city: "Rome" },
    });
    expect(await storedAfter("open", '{"address.city":"Rome","address":{"city":"Bern"}}')).toEqual({
      address: { city: "Bern" },
    });
    expect(await storedAfter("open", '{"address.city":"Rome","address":null}')).toEqual({});
  });

  it("[FIELDS-ARRAY-INDEX] may name an existing item or the next one", async () => {
    const items = { items: [{ amount: 1 }, { amount: 2 }] };
    expect(await storedAfter("open", items, { "items.1.amount": 5, "items.2": { amount: 3 } })).toEqual({
      items: [{ amount: 1 }, { amount: 5 }, { amount: 3 }],
    });
    expect(await storedAfter("open", { "items.0.amount": 7 })).toEqual({ items: [{ amount: 7 }] });
  });

  it.each(["items.2", "items.99.amount", "items.-1", "items.x", "items.01"])(
    "[FIELDS-ARRAY-INDEX] %s of a list of one names no item",
    async (path) => {
      const { submissionId, resumeToken } = await create(server, "open", { fields: { items: [{ amount: 1 }] } });
      const reply = await unchangedBy(server, submissionId, () =>
        setFields(server, resumeToken, { [path]: { amount: 2 } }),
      );
      expectError(reply, 422, "invalid");
    },
  );

  it.each([
    '{"__proto__":{"polluted":1}}',
    '{"name":"x","extra":{"__proto__":{"polluted":1}}}',
    '{"extra":[{"constructor":{"prototype":1}}]}',
    '{"prototype":1}',
    '{"a.__proto__.polluted":1}',
    '{"constructor.prototype.polluted":1}',
    '{"items.constructor":1}',
  ])("[FIELDS-RESERVED-NAMES] %s is a 400 and stores nothing", async (fields) => {
    const { submissionId, resumeToken } = await create(server, "open", { fields: { name: "Ada" } });
    const raw = `{"actor":${JSON.stringify(AGENT)},"fields":${fields}}`;
    const reply = await unchangedBy(server, submissionId, () =>
      server.call("PATCH", `/resume/${resumeToken}`, { raw }),
    );
    expectError(reply, 400, "bad_request");
    const initial = `{"actor":${JSON.stringify(AGENT)},"initialFields":${fields}}`;
    expectError(await server.call("POST", "/intakes/open/submissions", { raw: initial }), 400, "bad_request");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("what is stored and what is refused", () => {
  it("[FIELDS-INVALID-KEPT] a value that fails validation is stored, and reported", async () => {
    const made = await create(server, "open");
    const reply = await setFields(server, made.resumeToken, { age: "old", address: "nowhere", name: "Ada" });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ ok: true, version: 2, fields: { age: "old", address: "nowhere", name: "Ada" } });
    expect(reply.body.validationErrors.map((error: Loose) => [error.path, error.code]).sort()).toEqual([
      ["address", "invalid_type"],
      ["age", "invalid_type"],
    ]);
    expect((await record(server, made.submissionId)).fields).toEqual({ age: "old", address: "nowhere", name: "Ada" });
  });

  it.each([
    [{ name: "x", nobody: 1 }, "nobody"],
    [{ name: "x", "nobody.inside": 1 }, "nobody"],
    [{ address: { city: "Bern", planet: "x" } }, "address.planet"],
    [{ "address.planet": "x" }, "address.planet"],
    [{ items: [{ amount: 1 }, { amount: 2, tip: 3 }] }, "items.1.tip"],
    [{ "items.0.tip": 3 }, "items.0.tip"],
  ])("[FIELDS-UNKNOWN-REFUSED] %j is a 422 that names %s and stores nothing", async (fields, path) => {
    const { submissionId, resumeToken } = await create(server, "closed", { fields: { items: [{ amount: 0 }] } });
    const reply = await unchangedBy(server, submissionId, () => setFields(server, resumeToken, fields));
    const error = expectError(reply, 422, "invalid");
    expect(error.fields.map((field: Loose) => field.path).join()).toContain(path);
    expect(reply.body).toMatchObject({ submissionId, version: 1, resumeToken });
    expect((await setFields(server, resumeToken, { name: "still current" })).status).toBe(200);
  });

  it("[FIELDS-INITIAL] initialFields take dot-paths, keep what is invalid, and drop nulls", async () => {
    const fields = { "address.city": "Bern", age: "old", name: null };
    const made = await create(server, "open", { fields });
    expect(made).toMatchObject({ fields: { address: { city: "Bern" }, age: "old" }, version: 1 });
    expect(made.validationErrors).toHaveLength(1);
  });

  it("[FIELDS-INITIAL] if they are refused, nothing is created", async () => {
    const count = async () =>
      (await server.call("GET", "/submissions?limit=1000", { key: server.adminKey })).body.items.length;
    const before = await count();
    const body = { actor: AGENT, initialFields: { name: "x", nobody: 1 } };
    expectError(await server.call("POST", "/intakes/closed/submissions", { body }), 422, "invalid");
    expect(await count()).toBe(before);
  });

  it("[FIELDS-TOO-MUCH] too deep is a 400, too large a 413, and nothing of it is stored", async () => {
    const { submissionId, resumeToken } = await create(server, "open");
    const send = (fields: string): Promise<Reply> =>
      unchangedBy(server, submissionId, () =>
        server.call("PATCH", `/resume/${resumeToken}`, {
          raw: `{"actor":${JSON.stringify(AGENT)},"fields":${fields}}`,
        }),
      );
    expectError(await send(`{"extra":${"[".repeat(80)}${"]".repeat(80)}}`), 400, "bad_request");
    expectError(await send(`{"${"a.".repeat(80)}b":1}`), 400, "bad_request");
    expectError(await send(`{"name":"${"x".repeat(1_100_000)}"}`), 413, "payload_too_large");
  });
});

describe("attribution", () => {
  it("[FIELDS-ATTRIBUTION] every path says who set it, when, at which version", async () => {
    const made = await create(server, "open", { fields: { name: "Ada", address: { city: "Bern", zip: "1" } } });
    const first = new Date(server.clock.now()).toISOString();
    server.clock.advance(1234);
    const second = new Date(server.clock.now()).toISOString();
    await filled(server, made.resumeToken, { "address.city": "Rome", tags: ["a"] }, { body: { actor: HUMAN } });
    const agent = { actor: { ...AGENT, declared: true }, at: first, version: 1 };
    const human = { actor: { ...HUMAN, declared: true }, at: second, version: 2 };
    expect((await record(server, made.submissionId)).attribution).toEqual({
      name: agent,
      "address.zip": agent,
      "address.city": human,
      tags: human,
    });
  });

  it("[FIELDS-ATTRIBUTION] [FIELDS-DOT-LITERAL] a field whose name has a dot keeps its author, whatever is set beside it", async () => {
    const fields = { address: { city: "Bern" }, "address.country": "CH" };
    const made = await create(server, "open", { fields });
    const set = await filled(server, made.resumeToken, { address: "Bern" }, { body: { actor: HUMAN } });
    const after = (await record(server, made.submissionId)).attribution;
    expect(after).toMatchObject({ address: { version: 2 }, "address.country": { version: 1 } });
    await filled(server, set.resumeToken, { "address.country": "IT" });
    const last = (await record(server, made.submissionId)).attribution;
    expect(last).toMatchObject({ address: { version: 2 }, "address.country": { version: 3 } });
  });

  it("[FIELDS-ATTRIBUTION] removed values are attributed to nobody", async () => {
    const made = await create(server, "open", { fields: { name: "Ada", address: { city: "Bern" } } });
    await filled(server, made.resumeToken, { name: null, address: null });
    expect((await record(server, made.submissionId)).attribution).toEqual({});
  });

  it("[FIELDS-ATTRIBUTION] when an item leaves a list, the items after it keep their authors", async () => {
    const made = await create(server, "open", { fields: { "items.0.amount": 1 } });
    const set = await filled(server, made.resumeToken, { "items.1.amount": 2 }, { body: { actor: HUMAN } });
    await filled(server, set.resumeToken, { "items.0": null });
    const { fields, attribution } = await record(server, made.submissionId);
    expect(fields).toEqual({ items: [{ amount: 2 }] });
    const paths = Object.keys(attribution);
    expect(paths.filter((path) => path.startsWith("items.1"))).toEqual([]);
    expect(paths.some((path) => "items.0.amount".startsWith(path))).toBe(true);
  });

  it("[FIELDS-ATTRIBUTION] the history records what was set and removed", async () => {
    const made = await create(server, "open", { fields: { name: "Ada", age: 1 } });
    await filled(server, made.resumeToken, { "address.city": "Bern", age: null });
    const { payload, actor } = (await history(server, made.submissionId)).at(-1);
    expect(payload).toEqual({ fields: { "address.city": "Bern" }, removed: ["age"] });
    expect(actor).toEqual({ ...AGENT, declared: true });
  });
});
