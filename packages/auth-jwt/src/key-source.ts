import { AuthenticatorDown, type Instant } from "@formbridge/core";
import { errors, type JWTVerifyGetKey } from "jose";
import type { KeySet } from "./key-set.ts";

export interface KeyTimes {
  /** Two fetches are at least this far apart. */
  cooldownMs: number;
  /** Keys older than this are fetched anew before they are used. */
  maxAgeMs: number;
  /** How long after that they are still used when the issuer does not answer. */
  staleMs: number;
}

export interface KeySourceOptions extends KeyTimes {
  load(): Promise<KeySet>;
  now(): Instant;
  onTrouble(error: unknown): void;
}

/** Without any key nobody comes in: then it asks sooner, but not with every request. */
const RETRY_MS = 1_000;

/**
 * The keys of one issuer, kept between requests. However many tokens come, and whatever they name, the issuer is asked once
 * in a cool-down; requests that come while it is asked wait for that one answer.
 */
export function createKeySource({ load, now, onTrouble, ...times }: KeySourceOptions): JWTVerifyGetKey {
  let kept: { set: KeySet; at: Instant } | undefined;
  let askedAt: Instant | undefined;
  let asking: Promise<void> | undefined;

  /** A clock that was set back makes old what seemed new. */
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

  /** Brings new keys, if it is time; when they can't be had, the old ones stay. */
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
    throw new AuthenticatorDown("the keys of the issuer can't be had", Math.max(1, pauseMs() - age(askedAt)));
  }

  return async (header, token) => {
    if (age(kept?.at) >= times.maxAgeMs) await refresh();
    try {
      return await current().find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // Perhaps a key that is newer than ours.
      await refresh();
      return await current().find(header, token);
    }
  };
}
