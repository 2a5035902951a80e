import type { DestinationInput } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { created, eventsOf, read, submit, until } from "../support/moves.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";

const REFUSED = {
  kind: "failed",
  error: "The webhook answered 422.",
  final: true,
  status: 422,
  answer: "no such customer: 12-34-56",
} as const;
const schema = {
  type: "object",
  properties: { name: { type: "string" }, tax: { type: "string", "x-sensitive": true } },
};

let server: TestServer;
let courier: ScriptedCourier;
let intakes = 0;

beforeAll(async () => {
  courier = createScriptedCourier();
  server = await startTestServer({ courier, env: { FORMBRIDGE_JOB_POLL_MS: "5" } });
});
afterAll(() => server.stop());

async function delivered(destination: Partial<DestinationInput> = {}): Promise<string> {
  intakes += 1;
  const id = `operated-${intakes}`;
  const whole = { kind: "webhook" as const, url: "https://wrong.invalid/hook", ...destination };
  expect((await server.putIntake({ id, schema, destination: whole })).status).toBe(201);
  return id;
}

const once = (id: string, isSo: (record: Loose) => boolean): Promise<Loose> =>
  until(async () => {
    const record = (await read(server, id, server.adminKey)).body;
    return isSo(record) ? record : undefined;
  });

async function dead(intake: string): Promise<string> {
  courier.next(intake, REFUSED);
  const made = await created(server, intake, { body: { initialFields: { name: "Ada", tax: "12-34-56" } } });
  await submit(server, made.resumeToken, `submit-${made.submissionId}`, { headers: { prefer: "wait=0" } });
  await once(made.submissionId, ({ deliveryState }) => deliveryState?.givenUp === true);
  return made.submissionId;
}

const list = (query: string, key = server.adminKey): Promise<Reply> =>
  server.call("GET", `/deliveries?${query}`, { key });
const retryAll = (body: object, key = server.adminKey): Promise<Reply> =>
  server.call("POST", "/deliveries/retry", { key, body });
const redirect = (id: string, destination: object, key = server.adminKey): Promise<Reply> =>
  server.call("PATCH", `/submissions/${id}/destination`, { key, body: { destination } });

describe("[AUDIT-F39] deliveries", () => {
  it("are listed by status, with their attempts and a masked excerpt of the response", async () => {
    const intake = await delivered();
    const submissionId = await dead(intake);
    const { items } = (await list(`state=dead&intakeId=${intake}`)).body;
    expect(items).toEqual([
      {
        submissionId,
        intakeId: intake,
        submissionState: "submitted",
        state: "dead",
        deliveryState: expect.objectContaining({ attemptCount: 1, givenUp: true, lastError: REFUSED.error }),
        attempts: [
          {
            at: expect.any(String),
            latencyMs: expect.any(Number),
            status: 422,
            error: REFUSED.error,
            answer: "no such customer: [sensitive]",
          },
        ],
      },
    ]);
    expect((await list(`state=pending&intakeId=${intake}`)).body.items).toEqual([]);
    const [failed] = await eventsOf(server, submissionId, "types=delivery.failed");
    expect(failed.payload).toMatchObject({ status: 422, latencyMs: expect.any(Number) });
    expect(JSON.stringify(failed)).not.toContain("no such customer");
    expect(await server.atRest()).not.toContain("no such customer");
    await retryAll({ intakeId: intake });
    await once(submissionId, ({ state }) => state === "finalized");
    const [done] = (await list(`state=delivered&intakeId=${intake}`)).body.items;
    expect(done).toMatchObject({ submissionId, state: "delivered", attempts: [{ status: 422 }, {}] });
    await server.call("POST", `/submissions/${submissionId}/erase`, { key: server.adminKey, body: {} });
    expect((await list(`state=delivered&intakeId=${intake}`)).body.items).toEqual([]);
  });

  it("are paged by tokens, and restarted by filter, a bounded number per call", async () => {
    const intake = await delivered();
    const ids = [await dead(intake), await dead(intake), await dead(intake)];
    const first = (await list(`state=dead&intakeId=${intake}&limit=2`)).body;
    expect(first.items.map(({ submissionId }: Loose) => submissionId)).toEqual([ids[2], ids[1]]);
    const second = (await list(`pageToken=${encodeURIComponent(first.nextPageToken)}`)).body;
    expect(second.items.map(({ submissionId }: Loose) => submissionId)).toEqual([ids[0]]);
    expect(second.nextPageToken).toBeUndefined();
    expect((await retryAll({ intakeId: "nobody" })).body).toMatchObject({ matched: 0, restarted: 0, more: false });
    const some = await retryAll({ intakeId: intake, limit: 2 });
    expect([some.status, some.body]).toEqual([200, { ok: true, matched: 2, restarted: 2, skipped: 0, more: true }]);
    await once(ids[2] ?? "", ({ state }) => state === "finalized");
    await once(ids[1] ?? "", ({ state }) => state === "finalized");
    expect((await retryAll({ intakeId: intake })).body).toMatchObject({ matched: 1, restarted: 1, more: false });
    await once(ids[0] ?? "", ({ state }) => state === "finalized");
    const [restarted] = await eventsOf(server, ids[0] ?? "", "types=delivery.restarted");
    expect(restarted.actor).toMatchObject({ kind: "human", id: "admin" });
  });

  it("are visible to admins of their tenant only", async () => {
    const intake = await delivered();
    const submissionId = await dead(intake);
    const agent = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "curious" } });
    const stranger = await server.makeKey({
      roles: ["admin"],
      actor: { kind: "human", id: "stranger" },
      tenant: "elsewhere",
    });
    expect((await list("state=dead", agent)).status).toBe(403);
    expect((await retryAll({}, agent)).status).toBe(403);
    expect((await list("state=dead", stranger)).body.items).toEqual([]);
    expect((await retryAll({}, stranger)).body.matched).toBe(0);
    expect((await redirect(submissionId, { kind: "webhook", url: "https://x.invalid" }, stranger)).status).toBe(404);
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "viewer" } });
    expect((await redirect(submissionId, { kind: "webhook", url: "https://x.invalid" }, viewer)).status).toBe(403);
  });
});

describe("[AUDIT-F39] a submission's own destination", () => {
  it("replaces the definition's from the next attempt on, and is shown to nobody", async () => {
    const intake = await delivered();
    const submissionId = await dead(intake);
    const url = "https://user:password@right.invalid/hook?key=query";
    const destination = { kind: "webhook", url, headers: { authorization: "Bearer header" }, secret: "own-secret" };
    const reply = await redirect(submissionId, destination);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect(reply.body.destination).toEqual({ kind: "webhook", url: "https://right.invalid/hook" });
    const [changed] = await eventsOf(server, submissionId, "types=destination.changed");
    expect(changed).toMatchObject({ actor: { id: "admin" }, payload: { kind: "webhook" } });
    const told = JSON.stringify([
      reply.body,
      await eventsOf(server, submissionId, "stream=all"),
      (await list("")).body,
    ]);
    expect(told).not.toMatch(/password|query|header|own-secret/);
    expect(await server.atRest()).not.toMatch(/own-secret|Bearer header/);
    await server.call("POST", `/submissions/${submissionId}/deliveries/retry`, { key: server.adminKey, body: {} });
    await once(submissionId, ({ state }) => state === "finalized");
    const [first, second] = courier.sent.filter((outgoing) => outgoing.submissionId === submissionId);
    expect([first?.destination, second?.destination]).toMatchObject([{ url: "https://wrong.invalid/hook" }, { url }]);
    expect([second?.secrets, second?.deliveryId]).toEqual([["own-secret"], first?.deliveryId]);
  });

  it("is checked like a definition's, and refused once the submission has ended", async () => {
    const intake = await delivered();
    const submissionId = await dead(intake);
    for (const [destination, path] of [
      [{ kind: "webhook", url: "ftp://x.invalid" }, "destination.url"],
      [{ kind: "queue", url: "amqp://x.invalid" }, "destination.name"],
      [{ kind: "store" }, "destination.kind"],
    ] as const) {
      const reply = await redirect(submissionId, destination);
      expect([reply.status, reply.body.error.fields[0].path]).toEqual([422, path]);
    }
    await server.call("DELETE", `/submissions/${submissionId}`, { key: server.adminKey });
    const late = await redirect(submissionId, { kind: "webhook", url: "https://right.invalid" });
    expect([late.status, late.body.error.type]).toEqual([410, "cancelled"]);
  });

  it("set before the submit, it receives a submission that would have been kept here", async () => {
    const intake = "operated-kept";
    await server.putIntake({ id: intake });
    const made = await created(server, intake, { body: { initialFields: { name: "Ada" } } });
    expect((await redirect(made.submissionId, { kind: "webhook", url: "https://right.invalid" })).status).toBe(200);
    await submit(server, made.resumeToken, "submit-kept");
    await once(made.submissionId, ({ state }) => state === "finalized");
    expect(courier.sent.find(({ submissionId }) => submissionId === made.submissionId)).toBeDefined();
  });
});
