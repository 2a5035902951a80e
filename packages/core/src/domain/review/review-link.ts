import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";

/** One person's way to one decision: mailed to an address, for one gate of one submit, and worth one use. */
export interface ReviewLink {
  /** One for each submit, gate and address: a new link takes the place of the one before it. */
  linkId: string;
  /** Of the secret in the link, which is kept nowhere. */
  hash: Hash;
  tenant: string;
  submissionId: string;
  /** Of the submit that is to be decided: what was changed and submitted again is another matter. */
  deliveryId: string;
  gateIndex: number;
  email: string;
  createdAt: Instant;
  expiresAt: Instant;
  spentAt?: Instant;
  /** Nobody asks for it any more after this. */
  forgetAfter: Instant;
}
