import type { Instant } from "../domain/instant.ts";
import type { Publication } from "../domain/publishing.ts";

export interface PublicationFilter {
  /** Only of this intake. */
  intakeId?: string;
  /** Inclusive. */
  from?: Instant;
  /** Exclusive. */
  until: Instant;
}

/** A position in the order of stamps; submissions with the same stamp are ordered by id. */
export interface PublicationPlace {
  stampedAt: Instant;
  submissionId: string;
}

/**
 * Published submissions of the whole deployment, in order of change. They are written by `Store.commit`
 * (`Change.publish`), stamped by the store's clock in that transaction, and never removed, even if the submission is.
 * The content of an erased one is gone; that of a withdrawn one is kept for its return and not shown.
 */
export interface Publications {
  /**
   * Everything stamped before this time is readable: no commit in flight, on any instance, will get an earlier stamp. A
   * list read after this call that ends before it misses nothing.
   */
  horizon(): Promise<Instant>;
  /** By stamp and id, starting after a position, with their content if requested. The cost depends on the page size only. */
  list(
    filter: PublicationFilter,
    page: { limit: number; after?: PublicationPlace; content: boolean },
  ): Promise<Publication[]>;
  /** The number of matches, counted up to `atMost`. */
  count(filter: PublicationFilter, atMost: number): Promise<number>;
  /** Undefined if the submission was never published. */
  get(submissionId: string): Promise<Publication | undefined>;
  /** The earliest stamp; undefined if nothing was ever published. */
  earliest(): Promise<Instant | undefined>;
  /**
   * Withdraws at most `limit` live publications of an intake, or restores withdrawn ones, stamped now; returns how
   * many.
   */
  restamp(intakeId: string, to: "live" | "withdrawn", limit: number): Promise<number>;
}
