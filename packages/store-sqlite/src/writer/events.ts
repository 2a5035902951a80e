import type { Database, Statement } from "better-sqlite3";
import type { Column, EventColumns } from "./flat-change.ts";

export interface EventOwner {
  sid: number;
  tenant: string;
}

const ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), ?, unhex(?), unhex(?), unhex(?))";

/** Appends to the log for a commit; only inside its transaction, which gives positions in the order of commits. */
export function createEventWriter(db: Database): (owner: EventOwner, events: readonly EventColumns[]) => void {
  const inserts: Statement[] = [];
  /** One statement for all rows of a change: what a statement costs beside its rows is paid once. */
  function insertOf(rows: number): Statement {
    const insert =
      inserts[rows] ??
      db.prepare(
        `INSERT INTO events (sid, tenant, stream, seq, event_id, type, ts, state, version, actor, payload,
           actor_salt, actor_digest, payload_salt, payload_digest, prev_hash, hash)
         VALUES ${Array(rows).fill(ROW).join(", ")}`,
      );
    inserts[rows] = insert;
    return insert;
  }
  return ({ sid, tenant }, events) => {
    if (events.length === 0) return;
    const values: Column[] = [];
    for (const columns of events) values.push(sid, tenant, ...columns);
    // As arguments: of an array, the driver would have to ask for every element.
    insertOf(events.length).run(...values);
  };
}
