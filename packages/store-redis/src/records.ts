import { type Change, type Instant, type KeyRecord, type ScopedKey, type Sealer, sha256 } from "@formbridge/core";
import type { Redis } from "./redis.ts";
import { NOW, script } from "./script.ts";
import { sealedJson } from "./sealed.ts";

/** Kept as long as it is live for certain. What lives on because its submission does is looked up in the database. */
const KEEP = script(`${NOW}
redis.call('HSET', KEYS[1], 'until', now + ARGV[2], 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`);

const FIND = script(`${NOW}
local found = redis.call('HMGET', KEYS[1], 'until', 'record')
if not found[1] or tonumber(found[1]) <= now then return false end
return found[2]`);

/** Recorded answers at hand. An answer stays sealed in its record, and the record is sealed around it. */
export interface RecordCache {
  find(key: ScopedKey): Promise<KeyRecord | undefined>;
  /** Before a commit: the record that the change would take the place of must not outlive it here. */
  beforeCommit(change: Change): Promise<void>;
  /** After it. Never throws: what could not be kept is found in the database. */
  committed(change: Change, at: Instant): Promise<void>;
  /** These records are no longer as they were. */
  forget(keys: readonly ScopedKey[]): Promise<void>;
}

/** The name of a key with its scope, from which nobody can tell either. */
export const nameOf = ({ tenant, intakeId, operation, hash }: ScopedKey): string =>
  sha256(JSON.stringify([tenant, intakeId, operation, hash]));

export function createRecordCache(redis: Redis, sealer: Sealer): RecordCache {
  const sealed = sealedJson<KeyRecord>(sealer);
  const keyOf = (key: ScopedKey): string => redis.key("record", nameOf(key));
  const scopeOf = ({ tenant, row, key }: Change): string | undefined =>
    key && keyOf({ ...key.ref, tenant, intakeId: row.submission.intakeId });

  return {
    async find(key) {
      const found = await redis.run(FIND, [keyOf(key)], [redis.now()]);
      return sealed.open(typeof found === "string" ? found : undefined, keyOf(key));
    },
    async beforeCommit(change) {
      const key = scopeOf(change);
      if (key !== undefined && change.key?.replaces !== undefined) await redis.remove(key);
    },
    async committed(change, at) {
      const key = scopeOf(change);
      if (key === undefined || change.key === undefined || change.key.expiresAt <= at) return;
      const { replaces: _, ...write } = change.key;
      const record = { ...write, submissionId: change.row.submission.submissionId, recordedAt: at };
      const args = [redis.now(), record.expiresAt - at, sealed.seal(record, key)];
      await redis.run(KEEP, [key], args).catch(() => {});
    },
    async forget(keys) {
      await Promise.all(keys.map((key) => redis.remove(keyOf(key))));
    },
  };
}
