import { fixtures } from "@formbridge/conformance";
import { type Change, StoreDown } from "@formbridge/core";
import { createMemoryBackend } from "@formbridge/store-memory";
import { expect, it, onTestFinished } from "vitest";
import { ownRedisCluster } from "../../../test/support/services/redis.ts";
import { connect, eventually, inFrontOf } from "./open.ts";

const { creation, newHash, update } = fixtures;
const hashOf = (change: Change): string => change.token?.hash ?? "";

async function scene() {
  const cluster = await ownRedisCluster();
  onTestFinished(cluster.remove);
  const truth = createMemoryBackend({ now: () => 0 });
  const redis = await connect(cluster.url, { timeoutMs: 300 });
  onTestFinished(redis.close);
  const hybrid = inFrontOf(truth, redis, { tokens: "hybrid", idempotency: "sql" });
  const strict = inFrontOf(truth, redis, { tokens: "redis", idempotency: "redis" });
  /** Locks many keys, so that every server of the cluster is involved. */
  const locks = () =>
    Promise.allSettled(
      Array.from({ length: 12 }, async () => {
        const key = { operation: "create", hash: newHash(), tenant: "acme", intakeId: "contact" } as const;
        (await strict.idempotency.enter(key, { timeoutMs: 1_000, maxWaiters: 1 }))?.();
      }),
    );
  const allServe = async () => ((await locks()).every(({ status }) => status === "fulfilled") ? true : undefined);
  return { cluster, truth, redis, hybrid, strict, locks, allServe };
}

it("a cluster that loses a server: hybrid continues, redis refuses and changes nothing, and both recover", async () => {
  const { cluster, hybrid, redis, locks, allServe } = await scene();
  const changes = Array.from({ length: 12 }, () => creation({ at: 0 }));
  for (const change of changes) await hybrid.store.commit(change);
  expect(await allServe()).toBe(true);

  await cluster.servers[1]?.kill();
  for (const change of changes) {
    expect(await hybrid.tokens.find(hashOf(change))).toMatchObject({ version: 1 });
    expect(await hybrid.store.commit(update(change, 1))).toMatchObject({ kind: "committed" });
    expect((await hybrid.store.load({ by: { token: hashOf(change) } })).presented).toMatchObject({ rotatedAt: 1 });
  }
  const refused = (await locks()).filter((answer) => answer.status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  for (const { reason } of refused) {
    expect(reason).toBeInstanceOf(StoreDown);
    expect(reason).toMatchObject({ outcome: "not_applied" });
  }
  expect(await redis.health()).toMatchObject({ healthy: false });

  await cluster.servers[1]?.restart();
  await eventually(allServe, 15_000);
  expect(await redis.health()).toMatchObject({ healthy: true });
});

it("a cluster that was completely gone serves again when it is back", async () => {
  const { cluster, hybrid, allServe } = await scene();
  const change = creation({ at: 0 });
  await hybrid.store.commit(change);
  await cluster.stop();
  expect(await hybrid.tokens.find(hashOf(change))).toMatchObject({ version: 1 });
  expect(await allServe()).toBeUndefined();
  await Promise.all(cluster.servers.map((server) => server.restart()));
  await eventually(allServe, 15_000);
});
