import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";

/** One person's access to one decision: mailed to an address, for one gate of one submit, for a single use. */
export interface ReviewLink {
  /** One for each submit, gate and address: a new link replaces the earlier one. */
  linkId: string;
  /** Hash of the secret in the link, which isn't stored. */
  hash: Hash;
  tenant: string;
  submissionId: string;
  /** Identifies the submit to be decided: a resubmission needs a new link. */
  deliveryId: string;
  gateIndex: number;
  email: string;
  createdAt: Instant;
  expiresAt: Instant;
  spentAt?: Instant;
  /** The row may be deleted after this. */
  forgetAfter: Instant;
}
