import { AuthenticatorDown, type Instant } from "@formbridge/core";
import { errors, type JWTVerifyGetKey } from "jose";
import type { KeySet } from "./key-set.ts";

export interface KeyTimes {
  /** The minimum time between two fetches. */
  cooldownMs: number;
  /** Keys older than this are fetched again before use. */
  maxAgeMs: number;
  /** How much longer they are still used if the issuer doesn't respond. */
  staleMs: number;
}

export interface KeySourceOptions extends KeyTimes {
  load(): Promise<KeySet>;
  now(): Instant;
  onTrouble(error: unknown): void;
}

/** Without any keys every request fails, so retry sooner, but not on every request. */
const RETRY_MS = 1_000;

/**
 * Caches one issuer's keys between requests. However many tokens come, and whatever key ids they name, the issuer is
 * asked at most once per cool-down; requests during a fetch share its result.
 */
export function createKeySource({ load, now, onTrouble, ...times }: KeySourceOptions): JWTVerifyGetKey {
  let kept: { set: KeySet; at: Instant } | undefined;
  let askedAt: Instant | undefined;
  let asking: Promise<void> | undefined;

  /** If the clock was set back, treat the keys as old. */
  const age = (at: Instant | undefined): number => {
    const passed = at === undefined ? -1 : now() - at;
    return passed < 0 ? Number.POSITIVE_INFINITY : passed;
  };
  const usable = (): KeySet | undefined =>
    kept !== undefined && age(kept.at) < times.maxAgeMs + times.staleMs ? kept.set : undefined;
  const pauseMs = (): number => (usable() === undefined ? Math.min(RETRY_MS, times.cooldownMs) : times.cooldownMs);

  async function ask(): Promise<void> {
    askedAt = now();
    try {
      kept = { set: await load(), at: now() };
    } catch (error) {
      onTrouble(error);
    }
  }

  /** Fetches new keys if it is time; on failure keeps the old ones. */
  async function refresh(): Promise<void> {
    if (asking === undefined && age(askedAt) >= pauseMs()) {
      asking = ask().finally(() => {
        asking = undefined;
      });
    }
    await asking;
  }

  function current(): KeySet {
    const set = usable();
    if (set !== undefined) return set;
    throw new AuthenticatorDown("the issuer's keys can't be fetched", Math.max(1, pauseMs() - age(askedAt)));
  }

  return async (header, token) => {
    if (age(kept?.at) >= times.maxAgeMs) await refresh();
    try {
      return await current().find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have published a newer key.
      await refresh();
      return await current().find(header, token);
    }
  };
}
