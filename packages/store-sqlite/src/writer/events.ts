import type { Database } from "better-sqlite3";
import type { FlatChange } from "./flat-change.ts";

export interface EventOwner {
  sid: number;
  tenant: string;
}

/** Where the log ends. */
export const LAST_POSITION = "coalesce((SELECT max(position) FROM commits), 0)";

type Append = (owner: EventOwner, events: FlatChange["events"], audit: readonly string[]) => void;

/** Appends what a commit tells, as one row; only inside its transaction, which gives positions in the order of commits. */
export function createEventWriter(db: Database): Append {
  const insert = db.prepare(
    `INSERT INTO commits (position, sid, tenant, events) VALUES (${LAST_POSITION} + ?, ?, ?, ?)`,
  );
  return ({ sid, tenant }, { count, texts }, audit) => {
    const all = count === 0 ? audit : [texts, ...audit];
    if (all.length > 0) insert.run(count + audit.length, sid, tenant, `[${all.join(",")}]`);
  };
}
