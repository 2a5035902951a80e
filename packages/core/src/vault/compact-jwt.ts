import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { NamedKey } from "./secrets.ts";

/**
 * Verifies a token that one of our keys signed, in the one spelling that we issue, and returns that key. Base64 decoders ignore
 * padding and the unused bits of the last character, so without this check several texts would pass for the same signature.
 */
export async function verifyCompactJwt<Payload>(
  token: string,
  keys: readonly NamedKey[],
  options: Pick<JWTVerifyOptions, "currentDate" | "audience" | "requiredClaims"> = {},
): Promise<{ payload: Payload & JWTPayload; key: NamedKey }> {
  if (!token.split(".").every(isCanonicalBase64url)) throw new Error("not canonical base64url");
  let key: NamedKey | undefined;
  const keyOf = ({ kid }: { kid?: string }): Buffer => {
    key = keys.find(({ id }) => id === kid);
    if (key === undefined) throw new Error("signed with a key that this server does not have");
    return key.bytes;
  };
  const { payload } = await jwtVerify<Payload>(token, keyOf, { algorithms: ["HS256"], ...options });
  if (key === undefined) throw new Error("the token was verified without a key");
  return { payload, key };
}

const isCanonicalBase64url = (text: string): boolean => Buffer.from(text, "base64url").toString("base64url") === text;
