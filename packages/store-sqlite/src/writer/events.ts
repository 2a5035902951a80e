import type { Database } from "better-sqlite3";
import type { RestingTexts } from "./resting-events.ts";

export interface EventOwner {
  sid: number;
  tenant: string;
}

/** Where the log ends. */
export const LAST_POSITION = "coalesce((SELECT max(position) FROM commits), 0)";

/** Appends what a commit tells, as one row; only inside its transaction, which gives positions in the order of commits. */
export function createEventWriter(db: Database): (owner: EventOwner, events: RestingTexts) => void {
  const insert = db.prepare(
    `INSERT INTO commits (position, sid, tenant, events, hashes, said) VALUES (${LAST_POSITION} + ?, ?, ?, ?, unhex(?), ?)`,
  );
  return ({ sid, tenant }, { count, events, hashes, said }) => {
    if (count > 0) insert.run(count, sid, tenant, `[${events}]`, hashes, `[${said}]`);
  };
}
