import type { Sealed } from "../domain/sealed.ts";

/**
 * Stores one sealed value per secret that data in this store may be sealed with, so that a server can check at start that it has
 * all of them.
 */
export interface SecretChecks {
  /** Empty before the first server has started. */
  list(): Promise<Sealed[]>;
  /** Compare and swap of the whole list; returns whether it did. */
  replace(checks: readonly Sealed[], expected: readonly Sealed[]): Promise<boolean>;
}
