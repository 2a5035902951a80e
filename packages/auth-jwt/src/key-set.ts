import { isObject } from "@formbridge/core";
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";

export interface KeySet {
  find: JWTVerifyGetKey;
  size: number;
}

/** Parses a JSON Web Key Set. Throws an error that says what is wrong and contains nothing of the keys. */
export function readKeySet(value: unknown): KeySet {
  const keys: unknown = isObject(value) ? value.keys : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject)) throw new Error("it is not a JSON Web Key Set");
  if (keys.length === 0) throw new Error("it contains no key");
  if (keys.some((key) => key.d !== undefined || key.k !== undefined))
    throw new Error("it contains a key that is not public");
  return { find: createLocalJWKSet(value as unknown as JSONWebKeySet), size: keys.length };
}
