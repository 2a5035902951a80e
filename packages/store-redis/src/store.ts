import {
  type Change,
  type Committed,
  type Idempotency,
  type Loaded,
  type LoadQuery,
  type ScopedKey,
  type Store,
  StoreDown,
  type TokenIndex,
  type TokenRow,
} from "@formbridge/core";
import type { RecordCache } from "./records.ts";
import type { TokenCache } from "./token-cache.ts";
import { type FindInRedis, findInRedis, type TokenMode } from "./tokens.ts";

interface Parts {
  truth: Store;
  records?: { cache: RecordCache; truth: Idempotency };
  tokens?: { cache: TokenCache; mode: TokenMode; truth: TokenIndex };
}

/** More than one submission ever has in the short time that Redis keeps them. */
const MAX_TOKENS = 10_000;

export interface StoreInFront extends Store {
  /** Finishes the commits that were handed in; later ones throw `StoreDown`. */
  close(): Promise<void>;
}

/** The database's store, which stays the truth. Redis learns of every commit, and tells whose a token is. */
export function createStore({ truth, records, tokens }: Parts): StoreInFront {
  const running = new Set<Promise<unknown>>();
  let closed = false;

  /** What Redis may know of a submission that is erased: nobody could tell any more afterwards which tokens there were. */
  async function toForget({ erase, tenant, row }: Change): Promise<{ rows: TokenRow[]; keys: ScopedKey[] }> {
    if (erase !== true) return { rows: [], keys: [] };
    const of = { tenant, submissionId: row.submission.submissionId };
    const [rows = [], keys = []] = await Promise.all([
      tokens?.truth.query(of, { limit: MAX_TOKENS }),
      records?.truth.keysOf(of),
    ]);
    return { rows, keys };
  }

  async function commit(change: Change): Promise<Committed> {
    await records?.cache.beforeCommit(change);
    const forgotten = await toForget(change);
    const committed = await truth.commit(change);
    if (committed.kind !== "committed") return committed;
    await Promise.all([
      records?.cache.committed(change, committed.at),
      // It is committed, whatever Redis says.
      records?.cache.forget(forgotten.keys).catch(() => {}),
      tokens?.cache.committed(change).catch(() => {}),
      tokens?.cache.forget(forgotten.rows).catch(() => {}),
    ]);
    return committed;
  }

  return {
    load: tokens === undefined ? truth.load : loadBy(truth, tokens.cache, findInRedis(tokens.cache, tokens.mode)),
    commit(change) {
      if (closed) return Promise.reject(new StoreDown("the store is closed", "not_applied"));
      const answer = commit(change);
      const done: Promise<unknown> = answer.catch(() => {}).finally(() => running.delete(done));
      running.add(done);
      return answer;
    },
    async close() {
      closed = true;
      await Promise.all(running);
    },
  };
}

function loadBy(truth: Store, cache: TokenCache, hot: FindInRedis): Store["load"] {
  async function fromTruth(query: LoadQuery): Promise<Loaded> {
    const loaded = await truth.load(query);
    if (loaded.presented !== undefined) void cache.remember(loaded.presented).catch(() => {});
    return loaded;
  }

  return async (query) => {
    if (!("token" in query.by)) return truth.load(query);
    const presented = await hot(query.by.token);
    if (presented === undefined) return fromTruth(query);
    const { submissionId: id, tenant, version, rotatedAt } = presented;
    const loaded = await truth.load({ ...query, by: { id, tenant } });
    const current = loaded.submission?.submission.version ?? 0;
    // Redis is believed only where the database agrees: a token is current exactly when its version is.
    const agrees =
      version <= current &&
      (version === current) === (rotatedAt === undefined) &&
      loaded.submission?.submission.erasedAt === undefined;
    return agrees ? { ...loaded, presented } : fromTruth(query);
  };
}
