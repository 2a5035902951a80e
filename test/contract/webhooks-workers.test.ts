import type { ClaimedWebhook } from "@formbridge/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWebhooks } from "../../packages/worker/src/webhook-loop.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { eventsOf, until } from "../support/moves.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";
import { idsOf, sentTo, webhook, written } from "../support/webhooks.ts";

const LEASE_MS = 60_000;

/** No loop of its own: the tests say when a worker does what. */
let server: TestServer;
let courier: ScriptedCourier;
beforeAll(async () => {
  courier = createScriptedCourier();
  server = await startTestServer({ courier, env: { FORMBRIDGE_WORKER: "off" } });
  for (const id of ["one", "other", "busy"]) await server.putIntake({ id });
});
afterAll(() => server.stop());

async function claim(): Promise<ClaimedWebhook> {
  const [claimed] = await server.server.core.backend.webhooks.claim(1, LEASE_MS);
  if (claimed === undefined) throw new Error("nothing is due");
  return claimed;
}
const push = (claimed: ClaimedWebhook): Promise<boolean> =>
  server.server.core.operations.pushEvents({
    webhook: claimed,
    leaseMs: LEASE_MS,
    signal: new AbortController().signal,
  });
const positionOf = async (claimed: ClaimedWebhook): Promise<number | undefined> =>
  (await server.server.core.backend.webhooks.get(claimed))?.progress.position;
const remove = (id: string) => server.call("DELETE", `/webhooks/${id}`, { key: server.adminKey });

it("[WEBHOOK-CRASH] [WEBHOOK-PAUSED] events sent by a paused worker are sent again by the next; when it resumes, it moves nothing", async () => {
  const { url, webhookId } = await webhook(server, { intakes: ["one"] });
  const submissionId = await written(server, "one", 2);
  courier.next("one", { kind: "accepted" }, "hold");
  const dead = await claim();
  const never = push(dead);
  await until(() => courier.held() === 1 || undefined);
  expect(await server.server.core.backend.webhooks.claim(1, LEASE_MS)).toEqual([]);
  server.clock.advance(LEASE_MS);
  const next = await claim();
  expect(await push(next)).toBe(true);
  const [first, second, third] = (await eventsOf(server, submissionId, "")).map(({ eventId }) => eventId);
  expect(idsOf(sentTo(courier, url))).toEqual([first, second, first, second, third]);
  const after = await positionOf(next);
  expect(after).toBeGreaterThan(dead.progress.position);
  courier.release({ kind: "failed", error: "late", final: true });
  await never;
  expect(await positionOf(next)).toBe(after);
  expect((await server.server.core.backend.webhooks.get(next))?.progress).toMatchObject({
    state: "active",
    failures: 0,
  });
  expect((await remove(webhookId)).status).toBe(200);
});

it("[WEBHOOK-PAUSED] a worker whose lease is running out starts nothing more, and leaves the rest to the next", async () => {
  const { url, webhookId } = await webhook(server, { intakes: ["one"] });
  await written(server, "one", 2);
  const claimed = await claim();
  const { operations, backend } = server.server.core;
  await operations.pushEvents({ webhook: claimed, leaseMs: 0, signal: new AbortController().signal });
  expect(sentTo(courier, url)).toEqual([]);
  expect((await backend.webhooks.get(claimed))?.progress).toEqual(claimed.progress);
  await push(await claim());
  expect(sentTo(courier, url)).toHaveLength(3);
  expect((await remove(webhookId)).status).toBe(200);
});

it("a worker that is asked to stop leaves the rest to the next, without counting a failure", async () => {
  const { url, webhookId } = await webhook(server, { intakes: ["other"] });
  await written(server, "other", 2);
  courier.next("other", { kind: "accepted" }, "hold");
  const stopping = new AbortController();
  const claimed = await claim();
  const pushing = server.server.core.operations.pushEvents({
    webhook: claimed,
    leaseMs: LEASE_MS,
    signal: stopping.signal,
  });
  await until(() => courier.held() === 1 || undefined);
  stopping.abort();
  courier.release({ kind: "failed", error: "aborted" });
  await pushing;
  const stored = await server.server.core.backend.webhooks.get(claimed);
  expect(stored?.progress).toMatchObject({ state: "active", failures: 0 });
  expect(sentTo(courier, url)).toHaveLength(2);
  await push(await claim());
  expect(sentTo(courier, url)).toHaveLength(4);
  expect((await remove(webhookId)).status).toBe(200);
});

it("[WEBHOOK-COMPLETE] [WEBHOOK-ORDER] several workers, writers and failures at once: each event is accepted once, in order", async () => {
  const { url } = await webhook(server, { intakes: ["busy"] });
  const fates = Array.from({ length: 60 }, (_, index) =>
    index % 7 === 3 ? ({ kind: "failed", error: "502" } as const) : ({ kind: "accepted" } as const),
  );
  courier.next("busy", ...fates);
  const { operations, backend, wakeups } = server.server.core;
  const errors: unknown[] = [];
  const loops = Array.from({ length: 3 }, () =>
    startWebhooks({
      operations,
      webhooks: backend.webhooks,
      wakeups,
      webhooksAtOnce: 4,
      leaseMs: LEASE_MS,
      pollMs: 5,
      graceMs: 1_000,
      onError: (_, error) => errors.push(error),
    }),
  );
  const made = await Promise.all(Array.from({ length: 25 }, () => written(server, "busy", 3)));
  const taken = () => {
    const failed = new Set(fates.flatMap((fate, index) => (fate.kind === "failed" ? [index] : [])));
    return idsOf(sentTo(courier, url).filter((_, index) => !failed.has(index)));
  };
  await until(() => {
    server.clock.advance(1_000);
    return taken().length >= 100 || undefined;
  });
  await Promise.all(loops.map((loop) => loop.stop()));
  expect(errors).toEqual([]);
  expect(taken()).toHaveLength(100);
  for (const submissionId of made) {
    const history = (await eventsOf(server, submissionId, "")).map(({ eventId }) => eventId);
    expect(taken().filter((id) => history.includes(id))).toEqual(history);
  }
});
