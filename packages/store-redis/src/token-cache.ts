import type { Change, Sealer, TokenRow } from "@formbridge/core";
import { sha256 } from "@formbridge/core";
import type { Redis } from "./redis.ts";
import { script } from "./script.ts";
import { sealedJson } from "./sealed.ts";

/** A rotated token never changes again. */
const ROTATED_LIFE_MS = 3_600_000;
/** A current token may be rotated while Redis is unreachable, so trust it only this long. */
const CURRENT_LIFE_MS = 60_000;

/**
 * Replaces the current token and returns 1 with the previous one; 0 if this one is already there, or -1 if a later one
 * is. Outlives every token that Redis considers current, so that none is missed.
 */
const ROTATE = script(`
local before = redis.call('HMGET', KEYS[1], 'version', 'row')
local ahead = before[1] and tonumber(before[1]) - tonumber(ARGV[1]) or -1
if ahead > 0 then return {-1} end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'row', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if ahead == 0 then return {0} end
return {1, before[2]}`);

/** Cached tokens, by hash. */
export interface TokenCache {
  find(hash: string): Promise<TokenRow | undefined>;
  /** Caches what the database returned, unless a concurrent write knows better. */
  remember(row: TokenRow): Promise<void>;
  /** Called after a commit. Throws if Redis can't be reached. */
  committed(change: Change): Promise<void>;
  /** Removes these tokens of one submission. */
  forget(rows: readonly TokenRow[]): Promise<void>;
}

export function createTokenCache(redis: Redis, sealer: Sealer): TokenCache {
  const sealed = sealedJson<TokenRow>(sealer);
  const keyOf = (hash: string): string => redis.key("token", hash);
  const currentOf = ({ tenant, submissionId }: TokenRow): string =>
    redis.key("current", sha256(JSON.stringify([tenant, submissionId])));

  function put(row: TokenRow, onlyWhenAbsent: boolean): Promise<void> {
    const key = keyOf(row.hash);
    const lifeMs = row.rotatedAt === undefined ? CURRENT_LIFE_MS : ROTATED_LIFE_MS;
    return redis.set(key, sealed.seal(row, key), { lifeMs, onlyWhenAbsent });
  }

  /**
   * The previous token is rotated by the version right after it. If one in between isn't known here, ask the database.
   */
  async function retire(before: TokenRow, next: TokenRow): Promise<void> {
    if (before.version === next.version - 1) await put({ ...before, rotatedAt: next.issuedAt }, false);
    else await redis.remove(keyOf(before.hash));
  }

  async function putCurrent(row: TokenRow, onlyWhenAbsent: boolean): Promise<void> {
    const current = currentOf(row);
    const args = [row.version, sealed.seal(row, current), 2 * CURRENT_LIFE_MS];
    const [place, replaced] = (await redis.run(ROTATE, [current], args)) as [number, (string | null)?];
    // A later write was faster, in this process or another.
    if (place === -1) return;
    const before = sealed.open(replaced ?? undefined, current);
    await Promise.all([put(row, onlyWhenAbsent), before && retire(before, row)]);
  }

  return {
    find: async (hash) => sealed.open(await redis.get(keyOf(hash)), keyOf(hash)),
    remember: (row) => (row.rotatedAt === undefined ? putCurrent(row, true) : put(row, true)),
    async committed(change) {
      const row = tokenOf(change);
      if (row !== undefined) await putCurrent(row, false);
    },
    async forget(rows) {
      const keys = new Set(rows.flatMap((row) => [keyOf(row.hash), currentOf(row)]));
      await Promise.all([...keys].map((key) => redis.remove(key)));
    },
  };
}

function tokenOf({ token, row: { submission } }: Change): TokenRow | undefined {
  if (token === undefined) return undefined;
  const { submissionId, tenant, intakeId, version } = submission;
  const { hash, epoch, expiresAt } = token;
  return { hash, submissionId, tenant, intakeId, version, epoch, issuedAt: submission.token.issuedAt, expiresAt };
}
