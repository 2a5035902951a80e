import { uuidv7 } from "uuidv7";
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
  return {
    newId: (prefix) => `${prefix}_${uuidv7()}`,
    resumeToken: () => `rtok_${draw(32).toString("base64url")}`,
    apiKey: () => `fbk_${draw(32).toString("base64url")}`,
    salt: () => draw(16).toString("hex"),
  };
}
