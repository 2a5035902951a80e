import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";

/** A token by its hash, with its submission version. */
export interface TokenRow {
  hash: Hash;
  submissionId: string;
  tenant: string;
  intakeId: string;
  version: number;
  epoch: number;
  issuedAt: Instant;
  expiresAt: Instant;
  /** When the next version's token was issued; absent while this is the current one. */
  rotatedAt?: Instant;
}
