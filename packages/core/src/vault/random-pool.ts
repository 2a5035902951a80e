import { randomFillSync } from "node:crypto";

const POOL_BYTES = 8192;

/** Draws from the operating system's generator in larger portions: a write needs several small ones. Copy what you keep. */
export function createRandomPool(): (bytes: number) => Buffer {
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
