import { type Change, type Due, erasedRecord, type Retention } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";
import type { Value } from "./sized-query.ts";

const ENDED = "ended_at IS NOT NULL AND erased_at IS NULL";
// From one definition to the next by the index, however many submissions each has.
const DEFINITIONS: Statement = {
  name: "ended_definitions",
  text: `WITH RECURSIVE found AS (
      (SELECT definition FROM formbridge.submissions WHERE ${ENDED} ORDER BY definition LIMIT 1)
      UNION ALL
      SELECT (SELECT s.definition FROM formbridge.submissions AS s
              WHERE s.ended_at IS NOT NULL AND s.erased_at IS NULL AND s.definition > found.definition
              ORDER BY s.definition LIMIT 1)
      FROM found WHERE found.definition IS NOT NULL)
    SELECT definition FROM found WHERE definition IS NOT NULL`,
};
const ENDED_BEFORE: Statement = {
  name: "ended_before",
  text: `SELECT tenant, submission_id AS "submissionId" FROM formbridge.submissions
    WHERE ${ENDED} AND definition = $1 AND ended_at < $2 ORDER BY ended_at LIMIT $3`,
};
const REMOVE: Statement = { name: "remove_erased", text: "SELECT formbridge.remove_erased($1, $2) AS gone" };

/** The arguments of `formbridge.erase_rest` that come after those of `formbridge.commit_change`. */
export function eraseValues({ row, events }: Change): Value[] {
  const { createdBy, erasedAt } = row.submission;
  return [
    JSON.stringify(createdBy.id),
    erasedAt ?? null,
    events.map(({ eventId }) => eventId),
    erasedRecord.fingerprint,
    JSON.stringify(erasedRecord.principal),
  ];
}

export function createRetention(db: Database): Retention {
  return {
    definitions: async () => {
      const rows = await db.read<{ definition: string }>(DEFINITIONS, []);
      return rows.map(({ definition }) => definition);
    },
    endedBefore: (before, { definition, limit }) => db.read<Due>(ENDED_BEFORE, [definition, before, limit]),
    removeErased: async (before, limit) => (await db.write<{ gone: number }>(REMOVE, [before, limit]))[0]?.gone ?? 0,
  };
}
