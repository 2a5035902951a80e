import type { AlarmWindows } from "@formbridge/core";
import { computed } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { sql, statement } from "./sql.ts";

const GIVEN = `json_to_recordset($1) AS g ("window" text, member text, at bigint, "windowMs" bigint, "atMost" bigint, place int)`;
// Rows are locked in one order, so that instances that write the same marks don't wait for each other in a circle.
const ADD = statement(
  "add_alarm_marks",
  sql`INSERT INTO formbridge.alarm_marks (subject, member, at, forget_after)
    SELECT g."window", g.member, max(g.at), max(g.at + g."windowMs") FROM ${GIVEN} GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (subject, member) DO UPDATE SET at = greatest(alarm_marks.at, excluded.at),
      forget_after = greatest(alarm_marks.forget_after, excluded.forget_after)
    RETURNING ${computed<{ member: string }>("member")}`,
);
const COUNT = statement(
  "count_alarm_marks",
  sql`SELECT ${computed<{ count: number }>("c.count::int AS count")} FROM ${GIVEN}
    CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT 1 FROM formbridge.alarm_marks AS m
      WHERE m.subject = g."window" AND m.at > g.at - g."windowMs" LIMIT g."atMost") AS counted) AS c ORDER BY g.place`,
);
const FORGET = statement(
  "forget_alarm_marks",
  sql`DELETE FROM formbridge.alarm_marks WHERE forget_after < $1 RETURNING ${computed<{ member: string }>("member")}`,
);

/** Counted after the marks are committed: of two instances, the later one sees both. */
export function createAlarmWindows(db: Database): AlarmWindows {
  return {
    async add(marks) {
      const given = [JSON.stringify(marks.map((mark, place) => ({ ...mark, place })))];
      await db.write(ADD, given);
      const counts = await db.read(COUNT, given);
      await db.write(FORGET, [Math.min(...marks.map(({ at }) => at))]);
      return counts.map(({ count }) => count);
    },
  };
}
