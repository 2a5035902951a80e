import { fixtures } from "@formbridge/conformance";
import { type Backend, type ChainedEvent, firstBrokenLink } from "@formbridge/core";
import { openPostgresBackend } from "@formbridge/store-postgres";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { emptied, optionsFor } from "./open.ts";

const { alsoTelling, creation, update, keyWrite, newApiKey, newHash, TENANT, HOUR } = fixtures;
const jobOf = (kind: "lapse" | "notify") => ({ key: `${kind}-${newHash()}`, kind, runAt: 0 });

let database: TestDatabase;
let backend: Backend;
beforeAll(async () => {
  database = await createMigratedDatabase();
  backend = await openPostgresBackend(optionsFor(database.url));
});
beforeEach(() => emptied(database));
afterAll(async () => {
  await backend.close();
  await database.close();
});

const creations = (count: number) => Array.from({ length: count }, () => creation({ at: 0 }));
const eventsOf = async (submissionId: string): Promise<ChainedEvent[]> =>
  (await backend.events.read({ tenant: TENANT, submissionId, streams: ["submission", "token", "idempotency"] }, 100)) ??
  [];
const transactions = async (): Promise<number> => {
  const [row] = await database.query<{ count: string }>(
    "SELECT count(DISTINCT xmin::text) AS count FROM formbridge.submissions",
  );
  return Number(row?.count);
};

describe("changes that arrive together", () => {
  it("are one transaction", async () => {
    const answers = await Promise.all(creations(10).map((change) => backend.store.commit(change)));
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(["committed"]));
    expect(await transactions()).toBe(1);
  });

  it("[AUDIT-F30] are one transaction, whatever they write: 20 expiries with their records, jobs and events", async () => {
    const at = Date.now();
    const open = Array.from({ length: 20 }, () =>
      creation({ at }, { key: keyWrite({ expiresAt: at, keepAfterEndMs: HOUR }), jobs: [jobOf("lapse")] }),
    );
    await Promise.all(open.map((change) => backend.store.commit(change)));
    const ends = open.map((change) => {
      const to = { ...change.row.submission, state: "expired" as const, expiredAt: at };
      return update(change, at, { to, dropJobs: change.jobs.map(({ key }) => key), jobs: [jobOf("notify")] });
    });
    const answers = await Promise.all(ends.map((change) => backend.store.commit(change)));
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(["committed"]));
    expect(await transactions()).toBe(1);
    const [rows] = await database.query(
      `SELECT (SELECT count(*)::int FROM formbridge.jobs WHERE kind = 'notify') AS added,
        (SELECT count(*)::int FROM formbridge.jobs WHERE kind = 'lapse') AS dropped,
        (SELECT count(*)::int FROM formbridge.records WHERE live_until = ${at + HOUR}) AS ended`,
    );
    expect(rows).toEqual({ added: 20, dropped: 0, ended: 20 });
  });

  it("each get their own result: committed, stale and too late", async () => {
    const [first, second, third] = creations(3);
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
    for (const change of [first, second, third]) await backend.store.commit(change);
    const answers = await Promise.all([
      backend.store.commit(update(first, 1)),
      backend.store.commit(update(second, 1, { expect: { revision: 7 } })),
      backend.store.commit(update(third, 1, { expect: { revision: 1, notAfter: 1 } })),
      backend.store.commit(creation({ at: 0 })),
    ]);
    expect(answers.map(({ kind }) => kind)).toEqual(["committed", "stale", "too_late", "committed"]);
    expect(answers[1]).toMatchObject({ loaded: { submission: second.row } });
  });

  it("each have their own chains, in which their events follow one another", async () => {
    const first = creations(12);
    await Promise.all(first.map((change) => backend.store.commit(change)));
    await Promise.all(first.map((change) => backend.store.commit(update(change, 1))));
    for (const { row } of first) {
      const events = await eventsOf(row.submission.submissionId);
      expect(events.map(({ seq }) => seq)).toEqual([1, 1, 2, 2]);
      expect(firstBrokenLink(events)).toBeUndefined();
    }
  });

  it("may have several events of one stream", async () => {
    const [first] = creations(1);
    if (first === undefined) throw new Error("there is one");
    await backend.store.commit(first);
    const next = alsoTelling(update(first, 1), ["token.handed_off", "token"]);
    expect(await backend.store.commit(next)).toMatchObject({ kind: "committed" });
    const events = await eventsOf(first.row.submission.submissionId);
    expect(events.filter(({ stream }) => stream === "token").map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(firstBrokenLink(events)).toBeUndefined();
  });

  it("do not overwrite an existing submission with one that creates it, even if its tokens were removed", async () => {
    const [first, other] = creations(2);
    if (first === undefined || other === undefined) throw new Error("there are two");
    await backend.store.commit(first);
    await database.query("DELETE FROM formbridge.tokens");
    const { submissionId } = first.row.submission;
    const rival = { ...creation({ at: 1 }), row: { submission: { ...other.row.submission, submissionId } } };
    const answers = await Promise.all([rival, other].map((change) => backend.store.commit(change)));
    expect(answers).toMatchObject([{ kind: "stale", loaded: { submission: first.row } }, { kind: "committed" }]);
    expect(await eventsOf(submissionId)).toHaveLength(2);
  });

  it("do not fail with one that can't be serialized", async () => {
    const bad = creation({ at: 0 });
    const events = bad.events.map((event) => ({ ...event, payload: { size: 1n as unknown as number } }));
    const answers = await Promise.allSettled(
      [...creations(3), { ...bad, events }].map((change) => backend.store.commit(change)),
    );
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
  });

  it("on one revision: one commits, and the other is stale", async () => {
    const [first] = creations(1);
    if (first === undefined) throw new Error("there is one");
    await backend.store.commit(first);
    const rivals = [update(first, 1), update(first, 1)];
    const answers = await Promise.all(rivals.map((change) => backend.store.commit(change)));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(["committed", "stale"]);
    const winner = rivals[answers.findIndex(({ kind }) => kind === "committed")];
    expect(answers.find(({ kind }) => kind === "stale")).toMatchObject({ loaded: { submission: winner?.row } });
  });

  it("do not fail with one that the database refuses", async () => {
    const [taken] = creations(1);
    if (taken?.token === undefined) throw new Error("there is one");
    await backend.store.commit(taken);
    const bad = creation({ at: 0 }, { token: taken.token });
    const good = creations(3);
    const answers = await Promise.allSettled([...good, bad].map((change) => backend.store.commit(change)));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    const ids = (await backend.submissions.list({ tenant: TENANT }, { limit: 10 })).map(
      ({ submission }) => submission.submissionId,
    );
    expect(new Set(ids)).toEqual(new Set([taken, ...good].map(({ row }) => row.submission.submissionId)));
  });

  it("do not wait with one whose row is locked", async () => {
    const [first] = creations(1);
    if (first === undefined) throw new Error("there is one");
    await backend.store.commit(first);
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    await holder.query("BEGIN");
    await holder.query("SELECT 1 FROM formbridge.submissions FOR UPDATE");
    let isAnswered = false;
    const held = backend.store.commit(update(first, 1)).then((answer) => {
      isAnswered = true;
      return answer;
    });
    const others = await Promise.all(creations(3).map((change) => backend.store.commit(change)));
    expect(others.map(({ kind }) => kind)).toEqual(["committed", "committed", "committed"]);
    expect(isAnswered).toBe(false);
    await holder.query("ROLLBACK");
    await holder.end();
    expect(await held).toMatchObject({ kind: "committed" });
  });
});

describe("loads that arrive together", () => {
  it("each get their own result, asked once or twice, found or not", async () => {
    const changes = creations(100);
    await Promise.all(changes.map((change) => backend.store.commit(change)));
    const tokens = [...changes, ...changes.slice(0, 5)].map(({ token }) => token?.hash ?? "");
    const found = await Promise.all([...tokens, newHash(), "\0"].map((token) => backend.store.load({ by: { token } })));
    expect(found.map(({ presented }) => presented?.hash)).toEqual([...tokens, undefined, undefined]);
    expect(found.map(({ submission }) => submission?.submission.submissionId)).toEqual([
      ...[...changes, ...changes.slice(0, 5)].map(({ row }) => row.submission.submissionId),
      undefined,
      undefined,
    ]);
  });

  it("see what was committed before they started, whoever started before them", async () => {
    const key = newApiKey();
    await backend.keys.add(key);
    const before = backend.keys.find(key.hash);
    expect(await backend.keys.revoke({ tenant: TENANT, keyId: key.keyId })).toBe(true);
    expect(await backend.keys.find(key.hash)).toBeUndefined();
    await before;
  });

  it("fail together when the database is gone, and nothing was changed", async () => {
    const lost = await openPostgresBackend(optionsFor(database.url));
    await lost.close();
    const asked = await Promise.allSettled([1, 2].map(() => lost.store.load({ by: { token: newHash() } })));
    expect(asked).toMatchObject([
      { status: "rejected", reason: { outcome: "not_applied" } },
      { status: "rejected", reason: { outcome: "not_applied" } },
    ]);
  });
});

describe("closing", () => {
  it("finishes pending writes, and refuses later ones", async () => {
    const own = await openPostgresBackend({ ...optionsFor(database.url), poolSize: 2 });
    const change = creation({ at: 0 });
    const handedIn = Promise.all([
      ...[change, ...creations(40)].map((one) => own.store.commit(one)),
      own.store.load({ by: { id: "sub_none", tenant: TENANT } }),
    ]);
    const closed = own.close();
    await expect(own.store.commit(creation({ at: 0 }))).rejects.toMatchObject({ outcome: "not_applied" });
    const answers = await handedIn;
    await closed;
    expect(answers[0]).toMatchObject({ kind: "committed" });
    const { submission } = await backend.store.load({
      by: { id: change.row.submission.submissionId, tenant: TENANT },
    });
    expect(submission).toMatchObject(change.row);
  });
});
