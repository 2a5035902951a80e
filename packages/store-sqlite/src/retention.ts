import type { Due, Hash, Retention } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { CallWriter } from "./group-commit.ts";
import type { RowCache } from "./row-cache.ts";
import { createErasedBefore } from "./writer/retention.ts";

const ENDED = "ended_at IS NOT NULL AND erased_at IS NULL";
// From one definition to the next by the index, however many submissions each has.
const DEFINITIONS = `WITH RECURSIVE found (definition) AS (
    SELECT min(definition) FROM submissions WHERE ${ENDED}
    UNION ALL
    SELECT (SELECT min(definition) FROM submissions WHERE ${ENDED} AND definition > found.definition)
    FROM found WHERE found.definition IS NOT NULL)
  SELECT lower(hex(definition)) FROM found WHERE definition IS NOT NULL`;

export function createRetention(db: Database, rows: RowCache, call: CallWriter): Retention {
  const definitions = db.prepare<[], Hash>(DEFINITIONS).pluck();
  const ended = db.prepare<[Hash, number, number], Due>(
    `SELECT tenant, submission_id AS submissionId FROM submissions
     WHERE ${ENDED} AND definition = unhex(?) AND ended_at < ? ORDER BY ended_at LIMIT ?`,
  );
  const erasedBefore = createErasedBefore(db);
  return {
    definitions: () => answer(() => definitions.all()),
    endedBefore: (before, { definition, limit }) => answer(() => ended.all(definition, before, limit)),
    async removeErased(before, limit) {
      // Looking costs nothing; only what is found is worth the write lock.
      const [first] = await answer(() => erasedBefore(before, 1));
      if (first === undefined) return 0;
      const gone = await call("removeErased", before, limit);
      for (const submissionId of gone) rows.forget(submissionId);
      return gone.length;
    },
  };
}
