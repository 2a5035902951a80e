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
  /** By digest, also when it is no longer the current one. */
  definition(digest: Hash): Promise<IntakeDefinition | undefined>;
  /** By id, ascending, after `after`. */
  list(where: { tenant: string; after?: string }, limit: number): Promise<StoredIntake[]>;
  /**
   * Makes this the current definition of its id, not retired. `expect` is the digest that the caller saw as current (undefined:
   * none); when another is there, `changed`. When the deployment has another intake, not retired, whose id differs only in `-`
   * and `_`, `collides`. Both change nothing.
   */
  put(
    intake: Omit<StoredIntake, "retired" | "updatedAt">,
    expect: Hash | undefined,
  ): Promise<"stored" | "changed" | "collides">;
  /** No new submissions; the running ones go on. Answers false when there is nothing to retire. */
  retire(where: { tenant: string; id: string }): Promise<boolean>;
}
