import type { Actor, Role } from "@formbridge/contract";
import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";

export interface ApiKey {
  keyId: string;
  hash: Hash;
  tenant: string;
  name: string;
  roles: Role[];
  actor: Actor;
  intakes?: string[];
  actsFor?: string[];
  createdAt: Instant;
  expiresAt?: Instant;
}

/** API keys. Only their hashes are stored. */
export interface Keys {
  /** By hash; absent when unknown, revoked or expired by the store's clock. */
  find(hash: Hash): Promise<ApiKey | undefined>;
  /** By id; absent when unknown or revoked. */
  get(where: { tenant: string; keyId: string }): Promise<ApiKey | undefined>;
  /** False, without effect, if the hash or the id exists. */
  add(key: ApiKey): Promise<boolean>;
  /** Oldest first (by key id), after `after`; revoked ones are not listed. */
  list(where: { tenant: string; after?: string }, limit: number): Promise<ApiKey[]>;
  /** The number that a whole list of the tenant has, counted up to `atMost`. */
  count(where: { tenant: string }, atMost: number): Promise<number>;
  /** Keeps the hash, so that the same key can't be added again, but neither name nor actor. False if there is none. */
  revoke(where: { tenant: string; keyId: string }): Promise<boolean>;
}
