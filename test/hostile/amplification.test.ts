import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { minimalIntake, startTestServer, type TestServer } from "../support/harness.ts";

const ACTOR = { kind: "agent", id: "a" };
const MIB = 1_048_576;

/** A small request must not cause a large response, a large history or a long wait. */
describe("what a caller sends is not multiplied", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
    await server.putIntake({ ...minimalIntake("open"), schema: { type: "object", additionalProperties: true } });
  });
  afterAll(() => server.stop());

  const create = async (intake: string) => {
    const { body } = await server.call("POST", `/intakes/${intake}/submissions`, { body: { actor: ACTOR } });
    return body as { resumeToken: string; submissionId: string };
  };
  const patch = (token: string, fields: unknown) =>
    server.call("PATCH", `/resume/${token}`, { body: { actor: ACTOR, fields } });
  const leaves = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));

  it("a long name above many values is refused", async () => {
    for (const intake of ["contact", "open"]) {
      const { resumeToken } = await create(intake);
      const reply = await patch(resumeToken, { name: { ["x".repeat(100_000)]: leaves(5_000) } });
      expect([reply.status, reply.body.error.type]).toEqual([400, "bad_request"]);
    }
  });

  it("many values below many names are refused when their paths add up", async () => {
    const { resumeToken } = await create("open");
    let fields: unknown = leaves(9_000);
    for (let depth = 0; depth < 20; depth++) fields = { ["x".repeat(200)]: fields };
    const reply = await patch(resumeToken, { deep: fields });
    expect([reply.status, reply.body.error.type]).toEqual([413, "payload_too_large"]);
  });

  it("an object where the schema takes none is one wrong value, not one for each of its members", async () => {
    const { resumeToken } = await create("contact");
    const reply = await patch(resumeToken, { name: { inner: leaves(100) } });
    expect(reply.status).toBe(200);
    expect(reply.body.updatedFields).toEqual(["name"]);
  });

  it("thousands of long paths are refused before they are read", async () => {
    const { resumeToken } = await create("contact");
    const tail = "a.".repeat(60);
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`name.${tail}${index}`, 1]));
    const began = process.cpuUsage();
    const reply = await patch(resumeToken, fields);
    const { user } = process.cpuUsage(began);
    expect([reply.status, reply.body.error.type]).toEqual([400, "bad_request"]);
    // Reading them took twenty seconds; what is left is the body itself.
    expect(user / 1_000_000).toBeLessThan(5);
  });

  it("a page of history is limited by its size, and nothing of it is left out", async () => {
    let { resumeToken, submissionId } = await create("contact");
    for (let round = 0; round < 9; round++) {
      const reply = await patch(resumeToken, { message: String(round).repeat(0.9 * MIB) });
      resumeToken = reply.body.resumeToken;
    }
    const seen: number[] = [];
    let after = "";
    for (let more = true; more; ) {
      const page = await server.call("GET", `/submissions/${submissionId}/events?limit=1000${after}`, {
        key: server.adminKey,
      });
      expect(JSON.stringify(page.body).length).toBeLessThan(6 * MIB);
      seen.push(...page.body.events.map((event: { seq: number }) => event.seq));
      more = page.body.hasMore;
      after = `&afterEventId=${page.body.nextEventId}`;
    }
    expect(seen).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
  });

  it("a refused write logs no more than a line", async () => {
    const { resumeToken, submissionId } = await create("open");
    await patch(resumeToken, { a: 1 });
    await patch(resumeToken, { ["y".repeat(200_000)]: 1 });
    await server.server.core.operations.flushAudit();
    const events = await server.call("GET", `/submissions/${submissionId}/events?stream=token`, {
      key: server.adminKey,
    });
    expect(JSON.stringify(events.body).length).toBeLessThan(20_000);
  });
});
