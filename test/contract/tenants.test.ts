import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, minimalIntake, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, read, setFields } from "../support/moves.ts";

let server: TestServer;
const admins: Record<"acme" | "globex", string> = { acme: "", globex: "" };
const submissions: Record<"acme" | "globex", Loose> = { acme: {}, globex: {} };
const tenants = ["acme", "globex"] as const;

beforeAll(async () => {
  server = await startTestServer();
  for (const tenant of tenants) {
    admins[tenant] = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" }, tenant });
    await server.putIntake({ id: `${tenant}-closed`, access: "key" }, admins[tenant]);
    await server.putIntake({ id: `${tenant}-public` }, admins[tenant]);
    submissions[tenant] = await created(server, `${tenant}-closed`, { key: admins[tenant] });
  }
});
afterAll(() => server.stop());

const get = (path: string, key: string) => server.call("GET", path, { key });

it("[RUNNING-TENANTS-APART] every list of a tenant shows that tenant's and nothing else", async () => {
  for (const tenant of tenants) {
    const other = tenant === "acme" ? "globex" : "acme";
    const lists = await Promise.all(
      ["/submissions?fields=true", "/events?stream=all&limit=1000", "/intakes", "/keys"].map((path) =>
        get(path, admins[tenant]),
      ),
    );
    for (const { status, body } of lists) {
      expect([status, body.items.length > 0]).toEqual([200, true]);
      expect(JSON.stringify(body.items)).not.toContain(other);
      expect(JSON.stringify(body.items)).not.toContain(submissions[other].submissionId);
    }
  }
  const own = (await get("/submissions", server.adminKey)).body.items;
  expect(own).toEqual([]);
});

it("[RUNNING-TENANTS-APART] the operator's own admin key can't see into a tenant either", async () => {
  const { submissionId } = submissions.acme;
  expect((await read(server, submissionId, server.adminKey)).status).toBe(404);
  expect((await get("/intakes/acme-closed", server.adminKey)).status).toBe(404);
  expect((await get("/events?intakeId=acme-closed", server.adminKey)).body.items).toEqual([]);
});

it("[RUNNING-TENANTS-APART] no read or write by id crosses over, also for the same actor", async () => {
  const { submissionId: id } = submissions.globex;
  const key = admins.acme;
  const attempts = [
    await read(server, id, key),
    await get(`/submissions/${id}/events`, key),
    await server.call("PATCH", `/submissions/${id}`, { key, body: { fields: { name: "x" }, version: 1 } }),
    await server.call("DELETE", `/submissions/${id}`, { key }),
    await server.call("POST", `/submissions/${id}/tokens/reissue`, { key, body: {} }),
  ];
  for (const reply of attempts) expect([reply.status, reply.body.error.type]).toEqual([404, "not_found"]);
  expect((await read(server, id, admins.globex)).body).toMatchObject({ state: "draft", version: 1 });
});

it("[RUNNING-TENANTS-APART] a tenant's token together with another tenant's key opens nothing", async () => {
  const { resumeToken } = submissions.globex;
  const replies = [
    await get(`/resume/${resumeToken}`, admins.acme),
    await setFields(server, resumeToken, { name: "x" }, { key: admins.acme }),
  ];
  for (const reply of replies) expect([reply.status, reply.body.error.type]).toEqual([404, "token_invalid"]);
});

it("[RUNNING-TENANTS-APART] keys of another tenant can't be revoked", async () => {
  const theirs = (await get("/keys", admins.globex)).body.items[0].keyId;
  const reply = await server.call("DELETE", `/keys/${theirs}`, { key: admins.acme });
  expect(reply.status).toBe(404);
  expect(reply.body).toEqual((await server.call("DELETE", "/keys/key_none", { key: admins.acme })).body);
  expect((await get("/keys", admins.globex)).status).toBe(200);
});

it("[RUNNING-TENANTS-OWN-INTAKES] a public create goes to the intake's tenant, whoever makes it", async () => {
  const anonymous = await created(server, "globex-public");
  const foreigner = await create(server, "globex-public", { key: admins.acme, body: { actor: AGENT } });
  expect(foreigner.status).toBe(201);
  for (const { submissionId } of [anonymous, foreigner.body]) {
    expect((await read(server, submissionId, admins.globex)).status).toBe(200);
    expect((await read(server, submissionId, admins.acme)).status).toBe(404);
  }
  expect((await read(server, foreigner.body.submissionId, admins.globex)).body.createdBy).toMatchObject({
    declared: true,
  });
});

it("[RUNNING-TENANTS-OWN-INTAKES] a closed intake of another tenant does not exist", async () => {
  const reply = await create(server, "globex-closed", { key: admins.acme });
  expect(reply.status).toBe(404);
  expect(reply.body).toEqual((await create(server, "not-there", { key: admins.acme })).body);
});

it("[RUNNING-TENANTS-INTAKE-IDS] an id that another tenant has is taken", async () => {
  const reply = await server.putIntake({ id: "globex-closed", version: "9" }, admins.acme);
  expect([reply.status, reply.body.error.type]).toEqual([409, "conflict"]);
  expect(JSON.stringify(reply.body)).not.toContain('"globex"');
  const retire = await server.call("DELETE", "/intakes/globex-closed", { key: admins.acme });
  expect(retire.status).toBe(404);
  expect((await get("/intakes/globex-closed", admins.globex)).body.intake).toMatchObject({
    ...minimalIntake("globex-closed"),
    access: "key",
  });
});

it("[RUNNING-TENANTS-KEYS] a tenant's admin makes keys of that tenant, and the operator of any", async () => {
  const grant = { name: "x", roles: ["admin"], actor: { kind: "human", id: "eve" } };
  for (const tenant of ["globex", "default"]) {
    const reply = await server.call("POST", "/keys", { key: admins.acme, body: { ...grant, tenant } });
    expect([reply.status, reply.body.error.type]).toEqual([403, "forbidden"]);
  }
  const own = await server.call("POST", "/keys", { key: admins.acme, body: grant });
  expect(own.status).toBe(201);
  expect((await read(server, submissions.acme.submissionId, own.body.key)).status).toBe(200);
  expect((await read(server, submissions.globex.submissionId, own.body.key)).status).toBe(404);
});
