import { randomFillSync } from "node:crypto";
import { uuidv7 } from "uuidv7";

/** Makes ids, which are time-ordered, and secrets, which never are. */
export interface Randomness {
  newId(prefix: "sub" | "evt" | "upl" | "dlv" | "key"): string;
  /** `rtok_` and 32 random bytes. */
  resumeToken(): string;
  /** `fbk_` and 32 random bytes. */
  apiKey(): string;
  /** 16 random bytes, in hex. */
  salt(): string;
}

const POOL_BYTES = 8192;

/** Draws from the operating system's generator in larger portions: a write needs several small ones. */
function createPool(): (bytes: number) => Buffer {
  const pool = Buffer.allocUnsafe(POOL_BYTES);
  let used = POOL_BYTES;
  return (bytes) => {
    if (used + bytes > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}

export function createRandomness(): Randomness {
  const draw = createPool();
  return {
    newId: (prefix) => `${prefix}_${uuidv7()}`,
    resumeToken: () => `rtok_${draw(32).toString("base64url")}`,
    apiKey: () => `fbk_${draw(32).toString("base64url")}`,
    salt: () => draw(16).toString("hex"),
  };
}
