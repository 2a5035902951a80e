import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN_KEY, putIntake } from "../faults/ledger-check.ts";
import { underLoad } from "../faults/under-load.ts";
import { createDice } from "../simulation/random.ts";
import { runCommand } from "../support/child.ts";
import { type CallOptions, caller, minimalIntake, type Reply } from "../support/harness.ts";
import { create, created, idempotencyKey, setFields, submit, until } from "../support/moves.ts";
import { createDatabase, type TestDatabase } from "../support/services/postgres.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { checkHistory } from "./history-check.ts";
import { CONTENDED, contend, historiesOf, newBoard } from "./history-clients.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const ROUNDS = isLong ? 200 : 5;
const KILLS = isLong ? 50 : 2;
const HISTORIES = isLong ? 5 : 1;
const HISTORY_CALLS = isLong ? 5_000 : 3_000;
const CLIENTS = 12;
const TIMEOUT = isLong ? 1_800_000 : 300_000;

let database: TestDatabase;
let fleet: Fleet;
let server: { adminKey: string; call(method: string, path: string, options?: CallOptions): Promise<Reply> };

beforeAll(async () => {
  database = await createDatabase();
  fleet = await startFleet({ adminKey: ADMIN_KEY, databaseUrl: database.url });
  server = { adminKey: ADMIN_KEY, call: caller(fleet.url) };
  await putIntake(fleet.url);
  const delivered = {
    ...minimalIntake("delivered"),
    destination: { kind: "webhook", url: "https://example.com/hook" },
  };
  for (const body of [minimalIntake("forms"), delivered, CONTENDED]) {
    expect((await server.call("PUT", `/intakes/${body.id}`, { key: ADMIN_KEY, body })).status).toBe(201);
  }
});
afterAll(async () => {
  await fleet?.stop();
  await database?.drop();
});

const many = <Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

/** How many requests each instance has answered. */
const answered = (): number[] => fleet.instances.map((instance) => instance.output().split('"answered"').length - 1);

test("[STORES-INSTANCES-ONE-KEY] 64 creates with one key, spread over three instances, make one submission", {
  timeout: TIMEOUT,
}, async () => {
  const before = answered();
  for (let round = 0; round < ROUNDS; round++) {
    const body = { idempotencyKey: idempotencyKey(`round-${round}`), initialFields: { name: `round ${round}` } };
    const replies = await many(64, () => create(server, "forms", { body }));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status, body: told }) => status === 200 && told._idempotent === true)).toHaveLength(63);
    expect(new Set(replies.map(({ body: told }) => told.submissionId)).size).toBe(1);
  }
  const [count] = await database.query<{ count: string }>(
    "SELECT count(*) FROM formbridge.submissions WHERE intake_id = 'forms'",
  );
  expect(Number(count?.count)).toBe(ROUNDS);
  const share = answered().map((now, index) => now - (before[index] ?? 0));
  for (const part of share) expect(part).toBeGreaterThan((ROUNDS * 64) / 6);
});

test("[STORES-INSTANCES-ONE-WINNER] of 50 writes with one token one wins, and the others get a conflict", async () => {
  const { resumeToken, submissionId } = await created(server, "forms");
  const replies = await many(50, (index) => setFields(server, resumeToken, { name: `writer ${index}` }));
  const winners = replies.filter(({ status }) => status === 200);
  expect(winners).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(49);
  const { body } = await server.call("GET", `/submissions/${submissionId}`, { key: ADMIN_KEY });
  expect([body.version, body.resumeToken]).toEqual([winners[0]?.body.version, winners[0]?.body.resumeToken]);
});

test("[STORES-INSTANCES-ONE-SUBMIT] of 20 submits with one key one executes: one event, one job", async () => {
  const made = await created(server, "delivered", { body: { initialFields: { name: "Ada" } } });
  const replies = await many(20, () => submit(server, made.resumeToken, "submit-once"));
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(replies.filter(({ body }) => body._idempotent === false)).toHaveLength(1);
  expect(new Set(replies.map(({ body }) => body.resumeToken)).size).toBe(1);
  const path = `/submissions/${made.submissionId}/events?types=submission.submitted`;
  expect((await server.call("GET", path, { key: ADMIN_KEY })).body.events).toHaveLength(1);
  const jobs = await database.query("SELECT kind FROM formbridge.jobs WHERE submission_id = $1 ORDER BY kind", [
    made.submissionId,
  ]);
  expect(jobs).toEqual([{ kind: "deliver" }, { kind: "lapse" }]);
});

test("[STORES-INSTANCES-KILLED] instances are killed under load: nothing acknowledged is lost, nothing is duplicated", {
  timeout: TIMEOUT,
}, async () => {
  await underLoad({ url: fleet.url, name: "instances", clients: CLIENTS, mayLose: true }, async ({ more }) => {
    for (let kill = 0; kill < KILLS; kill++) {
      await more(60);
      await fleet.instances[kill % 3]?.kill();
      await more(60);
      await fleet.restart(kill % 3);
    }
  });
  const verified = await runCommand(["verify", "--all"], { ...fleet.env, FORMBRIDGE_LOG_LEVEL: "silent" });
  expect(verified.code, verified.stderr).toBe(0);
});

test("[STORES-INSTANCES-ONE-COPY] what many callers saw of shared submissions is what a single copy would have shown", {
  timeout: TIMEOUT,
}, async () => {
  for (let round = 0; round < HISTORIES; round++) {
    const board = newBoard(fleet.url, HISTORY_CALLS);
    const seed = Date.now();
    const finished = many(2 * CLIENTS, (index) => contend(board, `history${round}-${index}`, createDice(seed + index)));
    await Promise.race([until(() => board.left < HISTORY_CALLS / 2 || undefined, TIMEOUT), finished]);
    // Some calls should end without a response.
    await fleet.instances[round % 3]?.kill();
    await Promise.all([finished, fleet.restart(round % 3)]);
    const histories = await historiesOf(board);
    const faults = [...histories].flatMap(([id, history]) => checkHistory(history).map((fault) => `${id}: ${fault}`));
    expect(faults, `seed ${seed}`).toEqual([]);
    const count = (outcome: string): number => board.calls.filter(({ call }) => call.outcome === outcome).length;
    const writes = [...histories.values()].reduce((sum, { chain }) => sum + chain.length, 0);
    process.stdout.write(
      `history: ${board.calls.length} calls on ${histories.size} submissions, ${count("done")} done, ` +
        `${count("replayed")} replayed, ${count("refused")} refused, ${count("unknown")} unknown, ${writes} writes\n`,
    );
    expect(writes).toBeGreaterThan(HISTORY_CALLS / 20);
  }
});

test("responses of the proxy itself have the usual envelope, and reveal nothing internal", {
  timeout: TIMEOUT,
}, async () => {
  // A kept-alive connection may end during a call: the proxy closes it with the instance behind it.
  const get = (path: string) => server.call("GET", path).catch(() => undefined);
  const inside = await until(() => get("/readyz"));
  expect([inside.status, inside.body.error.type]).toEqual([404, "not_found"]);
  await Promise.all(fleet.instances.map((instance) => instance.kill()));
  const alone = await until(async () => {
    const reply = await get("/healthz");
    return reply?.status === 503 ? reply : undefined;
  });
  expect(alone.headers["retry-after"]).toBe("1");
  expect(alone.body).toMatchObject({ ok: false, error: { type: "service_unavailable", retryable: true } });
  await Promise.all(fleet.instances.map((_, index) => fleet.restart(index)));
  await until(async () => (await get("/healthz"))?.status === 200 || undefined);
});
