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

/** API keys, known by their hash only. */
export interface Keys {
  /** By hash; absent when unknown, revoked or expired by the store's clock. */
  find(hash: Hash): Promise<ApiKey | undefined>;
  /** By id; absent when unknown or revoked. */
  get(where: { tenant: string; keyId: string }): Promise<ApiKey | undefined>;
  /** Adds a key; one with the same hash or id is left as it is, and the answer is false. */
  add(key: ApiKey): Promise<boolean>;
  /** Oldest first (by key id), after `after`; revoked ones are not listed. */
  list(where: { tenant: string; after?: string }, limit: number): Promise<ApiKey[]>;
  /** Answers false when there is none to revoke. */
  revoke(where: { tenant: string; keyId: string }): Promise<boolean>;
}
