import { V7Generator } from "uuidv7";
import { createRandomPool } from "./random-pool.ts";

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

export function createRandomness(): Randomness {
  const draw = createRandomPool();
  const ids = new V7Generator({ nextUint32: () => draw(4).readUInt32LE() });
  return {
    newId: (prefix) => `${prefix}_${ids.generate().toString()}`,
    resumeToken: () => `rtok_${draw(32).toString("base64url")}`,
    apiKey: () => `fbk_${draw(32).toString("base64url")}`,
    salt: () => draw(16).toString("hex"),
  };
}
