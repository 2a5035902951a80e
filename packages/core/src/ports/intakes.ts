import type { IntakeDefinition } from "@formbridge/contract";
import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";

export interface StoredIntake {
  tenant: string;
  source: "folder" | "api";
  definition: IntakeDefinition;
  digest: Hash;
  retired: boolean;
  updatedAt: Instant;
}

/** Definitions, versioned by digest. One that a submission was created with is kept as long as the submission. */
export interface Intakes {
  get(id: string): Promise<StoredIntake | undefined>;
  /** By digest, current or not. */
  definition(digest: Hash): Promise<IntakeDefinition | undefined>;
  /** By id, ascending, after `after`; of every tenant when none is named. */
  list(where: { tenant?: string; after?: string }, limit: number): Promise<StoredIntake[]>;
  /** The number that a whole list of the tenant has, counted up to `atMost`. */
  count(where: { tenant: string }, atMost: number): Promise<number>;
  /**
   * Makes this the current definition of its id, not retired. `changed`: the current digest isn't `expect` (undefined: none).
   * `collides`: another active intake of the deployment has an id that differs only in `-` and `_`. Both change nothing.
   */
  put(
    intake: Omit<StoredIntake, "retired" | "updatedAt">,
    expect: Hash | undefined,
  ): Promise<"stored" | "changed" | "collides">;
  /** Stops new submissions; existing ones continue. False if there is nothing to retire. */
  retire(where: { tenant: string; id: string }): Promise<boolean>;
}
