import type { Database } from "better-sqlite3";

const TEXTS = [
  "stream",
  "seq",
  "eventId",
  "type",
  "ts",
  "state",
  "version",
  "actor",
  "actorSalt",
  "payload",
  "payloadSalt",
] as const;
const HASHES = ["prevHash", "hash", "actorDigest", "payloadDigest"] as const;
const HASH_BYTES = 32;

/** An event as it rests in the file, its parts by their names. */
export type StoredEvent = Record<(typeof TEXTS)[number] | (typeof HASHES)[number], unknown>;

interface Row {
  position: number;
  events: string;
  hashes: Buffer;
}

function eventsOf({ events, hashes }: Row): StoredEvent[] {
  return (JSON.parse(events) as unknown[][]).map((values, index) => {
    const texts = TEXTS.map((name, place) => [name, values[place]]);
    const proofs = HASHES.map((name, place) => {
      const at = (index * HASHES.length + place) * HASH_BYTES;
      return [name, hashes.toString("hex", at, at + HASH_BYTES)];
    });
    return Object.fromEntries([...texts, ...proofs]) as StoredEvent;
  });
}

const rowsOf = (db: Database, submissionId: string): Row[] =>
  db
    .prepare<[string], Row>(
      `SELECT position, events, hashes FROM commits
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
  const update = db.prepare("UPDATE commits SET events = ?, hashes = ? WHERE position = ?");
  let changed = 0;
  for (const row of rowsOf(db, submissionId)) {
    const before = eventsOf(row);
    const after = before.map(change);
    changed += before.filter((event, index) => JSON.stringify(event) !== JSON.stringify(after[index])).length;
    const left = after.filter((event) => event !== undefined);
    const texts = left.map((event) => TEXTS.map((name) => event[name]));
    const hashes = left.flatMap((event) => HASHES.map((name) => event[name])).join("");
    update.run(JSON.stringify(texts), Buffer.from(hashes, "hex"), row.position);
  }
  return changed;
}
