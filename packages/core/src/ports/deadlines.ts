import type { Instant } from "../domain/instant.ts";

export interface Due {
  tenant: string;
  submissionId: string;
}

/** Finds submissions that are due, by the store's clock. Changing them is an ordinary commit. */
export interface Deadlines {
  now(): Promise<Instant>;
  /** Editable submissions that expired before `before`, earliest first. */
  expired(before: Instant, limit: number): Promise<Due[]>;
  /** Editable submissions whose `warnAt` is before `before`, earliest first. */
  warnable(before: Instant, limit: number): Promise<Due[]>;
}
