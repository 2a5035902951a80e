import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Reply, startTestServer, type TestServer } from "./support/harness.ts";
import { memoryFolder } from "./support/memory-folder.ts";
import { AGENT, create, filled, setFields, submit } from "./support/submissions.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const CREATE_ROUNDS = isLong ? 2_000 : 200;
const KEYS_AT_ONCE = 20;
const ROUNDS = isLong ? 100 : 5;
vi.setConfig({ testTimeout: isLong ? 1_800_000 : 120_000 });

const folder = memoryFolder();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ fakeClock: false, env: { FORMBRIDGE_DATA: folder.path } });
  const properties = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, { type: "string" }]));
  await server.putIntake({ id: "race", schema: { type: "object", properties, required: [] } });
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

const statuses = (replies: readonly Reply[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** Starts them all before any of them is answered. */
const together = (count: number, call: (index: number) => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

const eventsOf = async (submissionId: string, types: string) =>
  (await server.call("GET", `/submissions/${submissionId}/events?types=${types}&limit=1000`, { key: server.adminKey }))
    .body.events;

test("64 creates with one key at once make one submission, every time [IDEMPOTENCY-CONCURRENT]", async () => {
  const rounds = Array.from({ length: CREATE_ROUNDS }, (_, round) => round);
  // Several keys at once, so that they share disk syncs; every key still has its 64.
  for (let from = 0; from < CREATE_ROUNDS; from += KEYS_AT_ONCE) {
    await Promise.all(rounds.slice(from, from + KEYS_AT_ONCE).map(createAtOnce));
  }
  expect(await countSubmissions()).toBe(CREATE_ROUNDS);
});

async function createAtOnce(round: number): Promise<void> {
  const idempotencyKey = `create-${round}-${"k".repeat(32)}`;
  const body = { actor: AGENT, initialFields: { f0: "one" }, idempotencyKey };
  const replies = await together(64, () => server.call("POST", "/intakes/race/submissions", { body }));
  expect(statuses(replies), `round ${round}`).toEqual({ 200: 63, 201: 1 });
  expect(new Set(replies.map((reply) => reply.body.submissionId)).size).toBe(1);
  expect(replies.every(({ status, body: answer }) => answer._idempotent === (status === 200))).toBe(true);
  const counts = replies.map((reply) => reply.body.replayCount as number).sort((one, other) => one - other);
  expect(counts).toEqual(Array.from({ length: 64 }, (_, count) => count));
}

/** Every page of the list, so that a twin can't hide. */
async function countSubmissions(): Promise<number> {
  let count = 0;
  let page = "limit=1000&intakeId=race";
  for (;;) {
    const { body } = await server.call("GET", `/submissions?${page}`, { key: server.adminKey });
    count += body.items.length;
    if (body.nextPageToken === undefined) return count;
    page = `pageToken=${encodeURIComponent(body.nextPageToken)}`;
  }
}

test("of 50 writes on one token one wins, and no loser's work is lost after one re-read [CONCURRENCY-ONE-WINS]", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const made = await create(server, "race");
    const replies = await together(50, (index) => setFields(server, made.resumeToken, { [`f${index}`]: `v${index}` }));
    expect(statuses(replies)).toEqual({ 200: 1, 409: 49 });
    const winner = replies.findIndex(({ status }) => status === 200);
    const losers = replies.flatMap(({ status }, index) => (status === 409 ? [index] : []));
    for (const index of losers) {
      const { error, resumeToken, version } = replies[index]?.body ?? {};
      expect(error).toMatchObject({
        type: "token_conflict",
        yourVersion: 1,
        conflictDetails: { fields: [], canAutoMerge: true },
      });
      expect([version, resumeToken]).toEqual([2, replies[winner]?.body.resumeToken]);
      // One re-read: what the 409 returned was current then, and others have written since.
      const current = await server.call("GET", `/submissions/${made.submissionId}`, { key: server.adminKey });
      await filled(server, current.body.resumeToken, { [`f${index}`]: `v${index}` });
    }
    const { body } = await server.call("GET", `/submissions/${made.submissionId}`, { key: server.adminKey });
    expect(body.version).toBe(51);
    expect(body.fields).toEqual(
      Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, `v${index}`])),
    );
    const updates = await eventsOf(made.submissionId, "field.updated");
    expect(updates.map((event: { version: number }) => event.version)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 2),
    );
  }
});

test("the token in a 409 works for the next write [CONCURRENCY-NOTHING-LOST]", async () => {
  const made = await create(server, "race");
  let waiting = Array.from({ length: 50 }, (_, index) => ({ index, token: made.resumeToken as string }));
  for (let round = 0; waiting.length > 0; round++) {
    expect(round, "every round has a winner").toBeLessThan(50);
    const replies = await Promise.all(
      waiting.map(({ index, token }) => setFields(server, token, { [`f${index}`]: `w${index}` })),
    );
    expect(statuses(replies)).toEqual({ 200: 1, ...(waiting.length > 1 && { 409: waiting.length - 1 }) });
    waiting = waiting.flatMap(({ index }, place) => {
      const reply = replies[place];
      return reply?.status === 409 ? [{ index, token: reply.body.resumeToken as string }] : [];
    });
  }
  const { body } = await server.call("GET", `/submissions/${made.submissionId}`, { key: server.adminKey });
  expect(Object.keys(body.fields)).toHaveLength(50);
});

test("20 concurrent submits with one key are one submit and 19 replays of its response [IDEMPOTENCY-CONCURRENT]", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const made = await create(server, "race", { fields: { f0: "x" } });
    const idempotencyKey = `submit-race-${round}`;
    const replies = await together(20, () => submit(server, made.resumeToken, { body: { idempotencyKey } }));
    expect(statuses(replies)).toEqual({ 200: 20 });
    expect(replies.filter(({ body }) => body._idempotent === false)).toHaveLength(1);
    const answers = replies.map(({ body: { _idempotent: _, ...answer } }) => JSON.stringify(answer));
    expect(new Set(answers).size).toBe(1);
    expect(await eventsOf(made.submissionId, "submission.submitted")).toHaveLength(1);
    expect(await eventsOf(made.submissionId, "submission.finalized")).toHaveLength(1);
    expect(await eventsOf(made.submissionId, "submission.replayed")).toHaveLength(19);
  }
});

test("20 submits with different keys at once are one success [CONCURRENCY-ONE-WINS]", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const made = await create(server, "race", { fields: { f0: "x" } });
    const replies = await together(20, (index) =>
      submit(server, made.resumeToken, { body: { idempotencyKey: `each-${round}-${index}` } }),
    );
    // Submitting to the store ends the submission, and an ended one is a 410 before a stale token is a 409.
    expect(statuses(replies)).toEqual({ 200: 1, 410: 19 });
    expect(await eventsOf(made.submissionId, "submission.submitted")).toHaveLength(1);
  }
});
