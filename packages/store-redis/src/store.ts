import {
  type Change,
  type Committed,
  type Loaded,
  type LoadQuery,
  type Store,
  StoreDown,
  type TokenIndex,
  type TokenRow,
} from "@formbridge/core";
import type { TokenCache } from "./token-cache.ts";
import { findInRedis, type TokenMode } from "./tokens.ts";

interface Parts {
  truth: Store;
  tokens?: { cache: TokenCache; mode: TokenMode; truth: TokenIndex; onLookup?: (hit: boolean) => void };
}

/** More tokens than one submission ever has within the time that Redis keeps them. */
const MAX_TOKENS = 10_000;

export interface StoreInFront extends Store {
  /** Finishes pending commits; later ones throw `StoreDown`. */
  close(): Promise<void>;
}

/** The database's store, which remains authoritative. Redis caches every token and the submission it belongs to. */
export function createStore({ truth, tokens }: Parts): StoreInFront {
  const running = new Set<Promise<unknown>>();
  let closed = false;

  /** The tokens in Redis of a submission to be erased; collected first, because afterwards they can't be found. */
  async function toForget({ erase, tenant, row }: Change): Promise<TokenRow[]> {
    if (erase !== true || tokens === undefined) return [];
    return await tokens.truth.query({ tenant, submissionId: row.submission.submissionId }, { limit: MAX_TOKENS });
  }

  async function commit(change: Change): Promise<Committed> {
    const forgotten = await toForget(change);
    const committed = await truth.commit(change);
    if (committed.kind !== "committed") return committed;
    // It is committed, so ignore failures of Redis.
    await Promise.all([
      tokens?.cache.committed(change).catch(() => {}),
      tokens?.cache.forget(forgotten).catch(() => {}),
    ]);
    return committed;
  }

  return {
    load: tokens === undefined ? truth.load : loadBy(truth, tokens),
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

function loadBy(truth: Store, { cache, mode, onLookup }: NonNullable<Parts["tokens"]>): Store["load"] {
  const hot = findInRedis(cache, mode);
  async function fromTruth(query: LoadQuery): Promise<Loaded> {
    const loaded = await truth.load(query);
    if (loaded.presented !== undefined) void cache.remember(loaded.presented).catch(() => {});
    return loaded;
  }

  return async (query) => {
    if (!("token" in query.by)) return truth.load(query);
    const presented = await hot(query.by.token);
    onLookup?.(presented !== undefined);
    if (presented === undefined) return fromTruth(query);
    const { submissionId: id, tenant, version, rotatedAt } = presented;
    const loaded = await truth.load({ ...query, by: { id, tenant } });
    const current = loaded.submission?.submission.version ?? 0;
    // Trust Redis only where the database agrees: a token is current if and only if its version is.
    const agrees =
      version <= current &&
      (version === current) === (rotatedAt === undefined) &&
      loaded.submission?.submission.erasedAt === undefined;
    return agrees ? { ...loaded, presented } : fromTruth(query);
  };
}
