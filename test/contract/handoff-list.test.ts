import { afterAll, beforeAll, expect, it } from "vitest";
import { handOff } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created } from "../support/moves.ts";

let server: TestServer;
const made: string[] = [];

beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_LIST_COUNT_LIMIT: "6" } });
  await server.putIntake({ id: "forms" });
  await server.putIntake({ id: "others" });
  for (let index = 0; index < 6; index++) {
    const { resumeToken } = await created(server, index % 2 === 0 ? "forms" : "others");
    made.unshift((await handOff(server, resumeToken, { kind: index < 2 ? "qr" : "session" })).handoffId);
    server.clock.advance(1000);
  }
});
afterAll(() => server.stop());

const list = (query = "", key = server.adminKey, headers = {}) =>
  server.call("GET", `/handoffs?${query}`, { key, headers });
const idsOf = ({ body }: { body: Loose }): string[] => body.items.map(({ handoffId }: Loose) => handoffId);

it("[LISTS-HANDOFFS] has every submission's hand-offs, newest first, page by page", async () => {
  expect(idsOf(await list())).toEqual(made);
  const [item] = (await list()).body.items;
  expect(item).toMatchObject({ intakeId: "others", kind: "session", status: "open", sessions: [] });
  expect(JSON.stringify(item)).not.toMatch(/sess_|rtok_/);
  const first = await list("limit=4");
  expect(first.body.total).toBe(6);
  const second = await list(`pageToken=${first.body.nextPageToken}`);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(made);
  expect(second.body.total).toBe(6);
  expect(second.body).not.toHaveProperty("nextPageToken");
  const lines = await list("limit=1", server.adminKey, { accept: "application/x-ndjson" });
  expect(
    (lines.body as string)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).handoffId),
  ).toEqual(made);
});

it("[LISTS-HANDOFFS] is narrowed by intake, kind and status", async () => {
  const [newest] = (await list()).body.items;
  expect(idsOf(await list("kind=qr"))).toEqual(made.slice(4));
  expect(idsOf(await list("intakeId=others&kind=session&limit=1"))).toEqual([made[0]]);
  const path = `/submissions/${newest.submissionId}/handoffs/${newest.handoffId}`;
  expect((await server.call("DELETE", path, { key: server.adminKey, body: {} })).status).toBe(200);
  expect(idsOf(await list("status=revoked"))).toEqual([made[0]]);
  expect(idsOf(await list("status=open"))).toEqual(made.slice(1));
  expect((await list("status=lost")).status).toBe(400);
  expect((await list("kind=qr&limit=1")).body).not.toHaveProperty("total");
});

it("[LISTS-HANDOFFS] is for admins, of their tenant and intakes", async () => {
  const actor = { kind: "human", id: "someone" } as const;
  for (const role of ["agent", "viewer", "reviewer"] as const) {
    expect((await list("", await server.makeKey({ roles: [role], actor }))).status).toBe(403);
  }
  const foreign = await server.makeKey({ roles: ["admin"], actor, tenant: "acme" });
  expect((await list("", foreign)).body).toEqual({ ok: true, items: [], total: 0 });
  const limited = await server.makeKey({ roles: ["admin"], actor, intakes: ["forms"] });
  expect((await list("", limited)).body.items.map(({ intakeId }: Loose) => intakeId)).toEqual([
    "forms",
    "forms",
    "forms",
  ]);
  expect((await server.call("GET", "/handoffs")).status).toBe(401);
});
