import { randomUUID } from "node:crypto";
import { V7Generator } from "uuidv7";
import { createRandomPool } from "./random-pool.ts";

const PROCESS = randomUUID();

/** Makes ids, which are time-ordered, and secrets, which never are. */
export interface Randomness {
  /** Identifies this process in its leases; new with every start. */
  process: string;
  newId(prefix: "sub" | "evt" | "upl" | "dlv" | "key" | "hof" | "whk" | "inc" | "blk"): string;
  /** `rtok_` and 32 random bytes. */
  resumeToken(): string;
  /** `sess_` and 32 random bytes. */
  session(): string;
  /** `rvw_` and 32 random bytes. */
  reviewLink(): string;
  /** 10 characters that a human can read out: 50 random bits. */
  code(): string;
  /** `fbk_` and 32 random bytes. */
  apiKey(): string;
  /** `whsec_` and 32 random bytes. */
  webhookSecret(): string;
  /** 16 random bytes, in hex. */
  salt(): string;
  /** Between 0 and 1. Not for secrets. */
  chance(): number;
}

/** Without letters that look like digits, or like each other. */
const CODE_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export function createRandomness(): Randomness {
  const draw = createRandomPool();
  const ids = new V7Generator({ nextUint32: () => draw(4).readUInt32LE() });
  return {
    process: PROCESS,
    newId: (prefix) => `${prefix}_${ids.generate().toString()}`,
    resumeToken: () => `rtok_${draw(32).toString("base64url")}`,
    session: () => `sess_${draw(32).toString("base64url")}`,
    reviewLink: () => `rvw_${draw(32).toString("base64url")}`,
    code: () => Array.from(draw(10), (byte) => CODE_LETTERS[byte % CODE_LETTERS.length]).join(""),
    apiKey: () => `fbk_${draw(32).toString("base64url")}`,
    webhookSecret: () => `whsec_${draw(32).toString("base64")}`,
    salt: () => draw(16).toString("hex"),
    chance: Math.random,
  };
}
