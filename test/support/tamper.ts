import type { Database } from "better-sqlite3";

const EVENTS = ["stream", "seq", "eventId", "type", "ts", "state", "version"] as const;
const SAID = ["actor", "actorSalt", "payload", "payloadSalt"] as const;
const HASHES = ["prevHash", "hash", "actorDigest", "payloadDigest"] as const;
const HASH_BYTES = 32;

/** An event as it rests in the file, its parts by their names. */
export type StoredEvent = Record<(typeof EVENTS | typeof SAID | typeof HASHES)[number], unknown>;

interface Row {
  position: number;
  events: string;
  hashes: Buffer;
  said: string;
}

function eventsOf({ events, hashes, said }: Row): StoredEvent[] {
  const values = JSON.parse(said) as unknown[][];
  return (JSON.parse(events) as unknown[][]).map((event, index) => {
    const hashAt = (place: number): string => {
      const at = (index * HASHES.length + place) * HASH_BYTES;
      return hashes.toString("hex", at, at + HASH_BYTES);
    };
    return Object.fromEntries([
      ...EVENTS.map((name, place) => [name, event[place]]),
      ...SAID.map((name, place) => [name, values[index]?.[place]]),
      ...HASHES.map((name, place) => [name, hashAt(place)]),
    ]) as StoredEvent;
  });
}

const rowsOf = (db: Database, submissionId: string): Row[] =>
  db
    .prepare<[string], Row>(
      `SELECT position, events, hashes, said FROM commits
       WHERE sid = (SELECT sid FROM submissions WHERE submission_id = ?) ORDER BY position`,
    )
    .all(submissionId);

/** The events of a submission as they rest in the file. */
export const storedEvents = (db: Database, submissionId: string): StoredEvent[] =>
  rowsOf(db, submissionId).flatMap(eventsOf);

/** Rewrites them as somebody does who has the file: `undefined` takes an event out. Answers how many are no longer what they were. */
export function tamper(
  db: Database,
  submissionId: string,
  change: (event: StoredEvent) => StoredEvent | undefined,
): number {
  const update = db.prepare("UPDATE commits SET events = ?, hashes = ?, said = ? WHERE position = ?");
  let changed = 0;
  for (const row of rowsOf(db, submissionId)) {
    const before = eventsOf(row);
    const after = before.map(change);
    changed += before.filter((event, index) => JSON.stringify(event) !== JSON.stringify(after[index])).length;
    const left = after.filter((event) => event !== undefined);
    const partsOf = (names: readonly (keyof StoredEvent)[]) => left.map((event) => names.map((name) => event[name]));
    const hashes = Buffer.from(partsOf(HASHES).flat().join(""), "hex");
    update.run(JSON.stringify(partsOf(EVENTS)), hashes, JSON.stringify(partsOf(SAID)), row.position);
  }
  return changed;
}
