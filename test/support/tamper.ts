import type { Database } from "better-sqlite3";

/** An event as it rests in the file, its parts by their names. */
export type StoredEvent = Record<(typeof PARTS)[number], unknown>;

const PARTS = [
  "stream",
  "seq",
  "prevHash",
  "hash",
  "eventId",
  "type",
  "ts",
  "state",
  "version",
  "actor",
  "actorSalt",
  "actorDigest",
  "payload",
  "payloadSalt",
  "payloadDigest",
] as const;

const open = (values: unknown[]): StoredEvent =>
  Object.fromEntries(PARTS.map((part, index) => [part, values[index]])) as StoredEvent;

const OF_ID = "sid = (SELECT sid FROM submissions WHERE submission_id = ?)";

/** The events of a submission as they rest in the file. */
export const storedEvents = (db: Database, submissionId: string): StoredEvent[] =>
  db
    .prepare<[string], string>(`SELECT events FROM commits WHERE ${OF_ID} ORDER BY position`)
    .pluck()
    .all(submissionId)
    .flatMap((text) => (JSON.parse(text) as unknown[][]).map(open));

/** Rewrites them as somebody does who has the file: `undefined` takes an event out. Answers how many are no longer what they were. */
export function tamper(
  db: Database,
  submissionId: string,
  change: (event: StoredEvent) => StoredEvent | undefined,
): number {
  const rows = db
    .prepare<[string], { position: number; events: string }>(`SELECT position, events FROM commits WHERE ${OF_ID}`)
    .all(submissionId);
  const update = db.prepare("UPDATE commits SET events = ? WHERE position = ?");
  let changed = 0;
  for (const { position, events } of rows) {
    const left: unknown[] = [];
    for (const values of JSON.parse(events) as unknown[][]) {
      const altered = change(open(values));
      const written = altered && PARTS.map((part) => altered[part]);
      if (written !== undefined) left.push(written);
      if (JSON.stringify(written) !== JSON.stringify(values)) changed += 1;
    }
    update.run(JSON.stringify(left), position);
  }
  return changed;
}
