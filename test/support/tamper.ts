import type { Database } from "better-sqlite3";

/** Columns of `events` by the names that tests use. */
const TEXTS = {
  stream: "stream",
  seq: "seq",
  eventId: "event_id",
  type: "type",
  ts: "ts",
  state: "state",
  version: "version",
  actorSalt: "actor_salt",
  payloadSalt: "payload_salt",
} as const;
const VALUES = { actor: "actor", payload: "payload" } as const;
const HASHES = {
  prevHash: "prev_hash",
  hash: "hash",
  actorDigest: "actor_digest",
  payloadDigest: "payload_digest",
} as const;

type Name = keyof typeof TEXTS | keyof typeof VALUES | keyof typeof HASHES;
/** An event as stored in the file. */
export type StoredEvent = Record<Name, unknown>;

const SELECTED = [
  ...Object.entries({ ...TEXTS, ...VALUES }).map(([name, column]) => `${column} AS ${name}`),
  ...Object.entries(HASHES).map(([name, column]) => `lower(hex(${column})) AS ${name}`),
];
const ASSIGNED = [
  ...Object.entries({ ...TEXTS, ...VALUES }).map(([name, column]) => `${column} = @${name}`),
  ...Object.entries(HASHES).map(([name, column]) => `${column} = unhex(@${name})`),
];

type Row = Record<Name, string | number | null> & { position: number };
const parsed = (text: string | number | null): unknown => (text === null ? null : JSON.parse(String(text)));
const textOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

const rowsOf = (db: Database, submissionId: string): { position: number; event: StoredEvent }[] =>
  db
    .prepare<[string], Row>(
      `SELECT position, ${SELECTED.join(", ")} FROM events
       WHERE sid = (SELECT sid FROM submissions WHERE submission_id = ?) ORDER BY position`,
    )
    .all(submissionId)
    .map(({ position, ...row }) => ({
      position,
      event: { ...row, actor: parsed(row.actor), payload: parsed(row.payload) },
    }));

/** A submission's events as stored in the file. */
export const storedEvents = (db: Database, submissionId: string): StoredEvent[] =>
  rowsOf(db, submissionId).map(({ event }) => event);

/** Rewrites them like someone with access to the file: `undefined` removes an event. Returns how many were changed. */
export function tamper(
  db: Database,
  submissionId: string,
  change: (event: StoredEvent) => StoredEvent | undefined,
): number {
  const update = db.prepare(`UPDATE events SET ${ASSIGNED.join(", ")} WHERE position = @position`);
  const remove = db.prepare("DELETE FROM events WHERE position = ?");
  let changed = 0;
  for (const { position, event } of rowsOf(db, submissionId)) {
    const after = change(event);
    if (JSON.stringify(after) === JSON.stringify(event)) continue;
    changed += 1;
    if (after === undefined) remove.run(position);
    else update.run({ ...after, actor: textOf(after.actor), payload: textOf(after.payload), position });
  }
  return changed;
}
