import type { Sealer } from "@formbridge/core";

/** Data stored in Redis, sealed for its key, so that anyone who can write to Redis can't forge it. */
export interface SealedJson<Value> {
  seal(value: Value, key: string): string;
  /** Undefined if it wasn't sealed by us for this key. */
  open(sealed: string | undefined, key: string): Value | undefined;
}

export function sealedJson<Value>(sealer: Sealer): SealedJson<Value> {
  return {
    seal: (value, key) => sealer.seal(JSON.stringify(value), key),
    open(sealed, key) {
      if (sealed === undefined) return undefined;
      try {
        return JSON.parse(sealer.open(sealed, key)) as Value;
      } catch {
        return undefined;
      }
    },
  };
}
