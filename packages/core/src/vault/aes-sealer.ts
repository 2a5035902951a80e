import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import type { Sealed } from "../domain/sealed.ts";
import type { Sealer } from "../ports/sealer.ts";
import { createRandomPool } from "./random-pool.ts";
import { deriveKeys } from "./secrets.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM: `<key id>.<base64url of nonce, tag and text>`. */
export function createAesSealer(secrets: readonly string[]): Sealer {
  const keys = deriveKeys(secrets, "seal");
  // A key object is prepared once; from bytes, every call would prepare it again, at several times the cost of the cipher.
  const byId = new Map(keys.map((key) => [key.id, createSecretKey(key.bytes)]));
  const newestId = keys[0].id;
  const newest = createSecretKey(keys[0].bytes);
  const draw = createRandomPool();
  const keyOf = (sealed: Sealed): string => sealed.slice(0, sealed.indexOf("."));
  return {
    isNewest: (sealed) => keyOf(sealed) === newestId,
    knows: (sealed) => byId.has(keyOf(sealed)),
    seal(plain, bound) {
      const nonce = draw(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", newest, nonce);
      cipher.setAAD(Buffer.from(bound));
      const text = cipher.update(plain, "utf8");
      cipher.final();
      return `${newestId}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64url")}`;
    },
    open(sealed: Sealed, bound) {
      const id = keyOf(sealed);
      const key = byId.get(id);
      if (key === undefined) throw new Error("sealed with a key that this server does not have");
      const bytes = Buffer.from(sealed.slice(id.length + 1), "base64url");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(bound));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    },
  };
}
