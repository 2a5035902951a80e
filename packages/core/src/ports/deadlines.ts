import type { Instant } from "../domain/instant.ts";

export interface Due {
  tenant: string;
  submissionId: string;
}

/** Finds submissions whose time has come, by the store's clock. What to do with them is a commit like any other. */
export interface Deadlines {
  now(): Promise<Instant>;
  /** Editable submissions that expired before `before`, earliest first. */
  expired(before: Instant, limit: number): Promise<Due[]>;
  /** Editable submissions whose `warnAt` lies before `before`; earliest first. */
  warnable(before: Instant, limit: number): Promise<Due[]>;
}
