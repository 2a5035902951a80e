import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallOptions, Reply } from "../support/harness.ts";
import { createWorld, type Sentinel, type World } from "./world.ts";

/** "A caller who may not see a thing gets the same 404 as if it were not there" (CONTRACT §11): status, headers and body. */
let world: World;
let theirs: Sentinel;

const ACTOR = { actor: { kind: "agent", id: "anna" } };
const ABSENT_ID = "sub_01977d3e-8c00-7000-8000-00000000dead";
const ABSENT_TOKEN = `rtok_${"0".repeat(43)}`;
const ABSENT_INTAKE = "hz-gated";

beforeAll(async () => {
  world = await createWorld();
  const found = world.sentinels.find(({ tenant, state }) => tenant === "foreign" && state === "in_progress");
  if (found === undefined) throw new Error("there is no such sentinel");
  theirs = found;
});
afterAll(() => world.test.stop());

const IGNORED = ["date", "x-request-id"];

function shown({ status, headers, body }: Reply): unknown {
  return {
    status,
    body,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !IGNORED.includes(name))),
  };
}

interface Pair {
  method: string;
  there: string;
  absent: string;
  options?: CallOptions;
}

async function expectSame({ method, there, absent, options = {} }: Pair): Promise<Reply> {
  const first = await world.test.call(method, there, options);
  const second = await world.test.call(method, absent, options);
  expect(shown(first)).toEqual(shown(second));
  return first;
}

const UPLOAD = { field: "document", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 10 };
/** Every call on one submission: method, rest of the path, body. */
const CALLS: readonly [method: string, suffix: string, body?: object][] = [
  ["GET", ""],
  ["GET", "/events"],
  ["GET", "/events?stream=all&proof=true"],
  ["PATCH", "", { fields: { name: "x" } }],
  ["PATCH", "/fields", { fields: { name: "x" } }],
  ["POST", "/validate", {}],
  ["POST", "/submit", { idempotencyKey: "twin" }],
  ["POST", "/uploads", UPLOAD],
  ["POST", "/uploads/upl_1/confirm", {}],
  ["DELETE", "", {}],
  ["GET", "/handoffs"],
  ["POST", "/handoffs", {}],
  ["DELETE", "/handoffs/hof_1", {}],
];
const BY_KEY: typeof CALLS = [
  ["POST", "/review", { decision: "approved" }],
  ["POST", "/tokens/revoke", {}],
  ["POST", "/tokens/reissue", {}],
  ["POST", "/deliveries/retry", {}],
];
const CONDITIONS: readonly Record<string, string>[] = [
  {},
  { "if-match": '"1"' },
  { "if-match": "*" },
  { "x-intake-version": "2" },
];

describe("what is not yours looks like what does not exist", () => {
  test.each([...CALLS, ...BY_KEY])(
    "[BAD-INPUT-FOREIGN] %s /submissions/{id}%s of another tenant",
    async (method, suffix, body) => {
      for (const key of [world.own.admin, world.own.agent, world.own.viewer, world.own.reviewer]) {
        for (const headers of CONDITIONS) {
          const options = { key, headers, ...(body && { body }) };
          const [there, absent] = [
            `/submissions/${theirs.submissionId}${suffix}`,
            `/submissions/${ABSENT_ID}${suffix}`,
          ];
          const { status } = await expectSame({ method, there, absent, options });
          expect(status).toBeGreaterThanOrEqual(400);
        }
      }
    },
  );

  test.each([...CALLS, ...BY_KEY])(
    "%s /submissions/{id}%s of another agent of the tenant",
    async (method, suffix, body) => {
      for (const key of [world.foreign.otherAgent, world.foreign.limited, world.foreign.outsideReviewer]) {
        const [there, absent] = [`/submissions/${theirs.submissionId}${suffix}`, `/submissions/${ABSENT_ID}${suffix}`];
        await expectSame({ method, there, absent, options: { key, ...(body && { body }) } });
      }
    },
  );

  test.each([...CALLS, ...BY_KEY])("%s /submissions/{id}%s without a key or token", async (method, suffix, body) => {
    const [there, absent] = [`/submissions/${theirs.submissionId}${suffix}`, `/submissions/${ABSENT_ID}${suffix}`];
    for (const headers of CONDITIONS)
      await expectSame({ method, there, absent, options: { headers, ...(body && { body }) } });
  });

  test.each(CALLS)(
    "[BAD-INPUT-FOREIGN] %s /resume/{token}%s with a key of another tenant",
    async (method, suffix, body) => {
      for (const key of [world.own.admin, world.own.agent]) {
        for (const token of [theirs.token, ...theirs.oldTokens]) {
          const [there, absent] = [`/resume/${token}${suffix}`, `/resume/${ABSENT_TOKEN}${suffix}`];
          const { status } = await expectSame({ method, there, absent, options: { key, ...(body && { body }) } });
          expect(status).toBe(404);
        }
      }
    },
  );

  test.each(CALLS.filter(([method]) => method !== "GET"))(
    "[BAD-INPUT-TOKEN-ELSEWHERE] %s %s by id with the token of another submission",
    async (method, suffix, body = {}) => {
      const own = world.toys[0];
      const path = `/submissions/${own?.submissionId}${suffix}`;
      for (const key of [world.own.agent, undefined]) {
        const call = (token: string | undefined) =>
          world.test.call(method, path, {
            body: { ...body, ...(key === undefined && ACTOR) },
            headers: { "if-match": `"${token}"` },
            ...(key !== undefined && { key }),
          });
        expect(shown(await call(theirs.token))).toEqual(shown(await call(ABSENT_TOKEN)));
        expect((await call(theirs.token)).status).toBe(404);
      }
    },
  );

  test.each<[string, string, object?]>([
    ["GET", ""],
    ["GET", "/schema"],
    ["DELETE", ""],
    ["POST", "/submissions", { initialFields: { name: "x" } }],
  ])(
    "[BAD-INPUT-FOREIGN] %s /intakes/{id}%s of another tenant, or out of the key's reach",
    async (method, suffix, body) => {
      const [there, absent] = [`/intakes/${world.foreign.gatedIntake}${suffix}`, `/intakes/${ABSENT_INTAKE}${suffix}`];
      for (const key of [world.own.admin, world.own.agent, world.own.viewer, world.foreign.limited, undefined]) {
        await expectSame({ method, there, absent, options: { ...(key && { key }), ...(body && { body }) } });
      }
    },
  );

  test("[BAD-INPUT-FOREIGN] the lists of another tenant's intake are as empty as those of one that does not exist", async () => {
    for (const key of [world.own.admin, world.own.agent, world.own.viewer, world.foreign.limited]) {
      for (const list of ["/submissions", "/submissions?fields=true&"]) {
        const at = list.includes("?") ? list : `${list}?`;
        const absent = `${at}intakeId=${ABSENT_INTAKE}`;
        const { status, body } = await expectSame({
          method: "GET",
          there: `${at}intakeId=${world.foreign.gatedIntake}`,
          absent,
          options: { key },
        });
        expect([status, body.items]).toEqual([200, []]);
      }
    }
  });

  test("[BAD-INPUT-FOREIGN] another tenant's key can't be revoked, and looks like none", async () => {
    const { body } = await world.test.call("GET", "/keys", { key: world.foreign.admin });
    const [first] = body.items as { keyId: string }[];
    const absent = "/keys/key_01977d3e-8c00-7000-8000-00000000dead";
    const { status } = await expectSame({
      method: "DELETE",
      there: `/keys/${first?.keyId}`,
      absent,
      options: { key: world.own.admin },
    });
    expect(status).toBe(404);
  });

  test("[BAD-INPUT-FOREIGN] can't continue after an event of another submission", async () => {
    const { body } = await world.test.call("GET", `/submissions/${theirs.submissionId}/events`, {
      key: theirs.adminKey,
    });
    const [event] = body.events as { eventId: string }[];
    const at = `/submissions/${world.toys[0]?.submissionId}/events?afterEventId=`;
    const absent = `${at}evt_01977d3e-8c00-7000-8000-00000000dead`;
    for (const headers of [
      { accept: "application/json" },
      { accept: "application/x-ndjson" },
      { accept: "text/event-stream" },
    ]) {
      const options = { key: world.own.admin, headers };
      const { status } = await expectSame({ method: "GET", there: `${at}${event?.eventId}`, absent, options });
      expect(status).toBe(400);
    }
  });

  test("[RUNNING-TENANTS-APART] a page token of another tenant shows nothing of it", async () => {
    const { body } = await world.test.call("GET", "/submissions?limit=1", { key: world.foreign.admin });
    const reply = await world.test.call("GET", `/submissions?pageToken=${body.nextPageToken}`, {
      key: world.own.admin,
    });
    const seen = (reply.body.items ?? []) as { submissionId: string }[];
    const foreign = new Set(
      world.sentinels.filter(({ tenant }) => tenant === "foreign").map(({ submissionId }) => submissionId),
    );
    expect(seen.filter(({ submissionId }) => foreign.has(submissionId))).toEqual([]);
  });

  test("an idempotency key that somebody else used on a public intake names nothing of theirs", async () => {
    const idempotencyKey = `shared-${"k".repeat(40)}`;
    const path = `/intakes/${world.own.publicIntake}/submissions`;
    const mine = { idempotencyKey, actor: { kind: "agent", id: "one" }, initialFields: { name: "mine" } };
    const made = await world.test.call("POST", path, { body: mine });
    const other = await world.test.call("POST", path, { body: { ...mine, initialFields: { name: "guess" } } });
    expect(other.status).toBe(409);
    expect(JSON.stringify(other.body)).not.toContain(made.body.submissionId);
    const keyed = await world.test.call("POST", path, {
      key: world.own.otherAgent,
      body: { idempotencyKey, initialFields: { name: "mine" } },
    });
    expect(keyed.status).toBe(409);
    expect(JSON.stringify(keyed.body)).not.toMatch(/sub_|rtok_/);
  });
});
