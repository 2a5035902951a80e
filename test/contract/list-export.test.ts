import { get } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created } from "../support/moves.ts";

let server: TestServer;
const ids: string[] = [];
const LINES = { accept: "application/x-ndjson" };

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  for (let index = 0; index < 12; index++) ids.unshift((await created(server, "forms")).submissionId);
});
afterAll(() => server.stop());

async function lines(path: string, key = server.adminKey): Promise<Loose[]> {
  const reply = await server.call("GET", path, { key, headers: LINES });
  expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/x-ndjson; charset=utf-8"]);
  const text = reply.body as string;
  return text === ""
    ? []
    : text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
}

it("[LISTS-EXPORT] a list is sent whole, with the items of its pages, whatever their size", async () => {
  const page = await server.call("GET", "/submissions?intakeId=forms&limit=1000", { key: server.adminKey });
  expect(page.body.items.map(({ submissionId }: Loose) => submissionId)).toEqual(ids);
  for (const query of ["", "&limit=5", "&limit=4", "&limit=1000"]) {
    expect(await lines(`/submissions?intakeId=forms${query}`)).toEqual(page.body.items);
  }
  const half = await server.call("GET", "/submissions?intakeId=forms&limit=5", { key: server.adminKey });
  expect(await lines(`/submissions?pageToken=${half.body.nextPageToken}`)).toEqual(page.body.items.slice(5));
  expect(await lines("/submissions?intakeId=none")).toEqual([]);
  for (const path of [
    "/events",
    "/intakes",
    "/keys",
    "/webhooks",
    "/reviews",
    "/deliveries",
    "/handoffs",
    "/incidents",
    "/blocks",
  ]) {
    const { items } = (await server.call("GET", `${path}?limit=1000`, { key: server.adminKey })).body;
    expect(await lines(`${path}?limit=2`)).toEqual(items);
  }
  expect(await lines("/events?limit=2&actorKind=human")).toEqual([]);
  expect(await lines("/events?limit=3&submissionId=sub_none")).toEqual([]);
});

it("[LISTS-EXPORT] a refusal is an ordinary error", async () => {
  for (const [path, key, status] of [
    ["/submissions", undefined, 401],
    ["/submissions?limit=0", server.adminKey, 400],
    ["/submissions?pageToken=x", server.adminKey, 400],
  ] as const) {
    const reply = await server.call("GET", path, { headers: LINES, ...(key && { key }) });
    expect([reply.status, reply.body.ok]).toEqual([status, false]);
  }
});

it("[LISTS-EXPORT] [LISTS-EXPORT-RIGHTS] is read no faster than its client, and a revoked key ends it abruptly", async () => {
  const note = "x".repeat(200_000);
  await server.putIntake({ id: "large" });
  for (let index = 0; index < 60; index++) await created(server, "large", { body: { initialFields: { note } } });
  const made = await server.call("POST", "/keys", {
    key: server.adminKey,
    body: { name: "leaver", roles: ["viewer"], actor: { kind: "human", id: "leaver" } },
  });
  const headers = { ...LINES, authorization: `Bearer ${made.body.key}` };
  const ended = await new Promise<string>((resolve, reject) => {
    get(`${server.url}/submissions?intakeId=large&fields=true&limit=1`, { headers }, (answer) => {
      answer.pause();
      answer.on("error", () => resolve("aborted"));
      answer.on("end", () => resolve("complete"));
      // Nobody reads: pages that weren't requested yet are requested with a key that is revoked by then.
      server.call("DELETE", `/keys/${made.body.keyId}`, { key: server.adminKey }).then(() => answer.resume(), reject);
    }).on("error", reject);
  });
  expect(ended).toBe("aborted");
});
