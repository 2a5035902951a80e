import { createKeyLine, type Idempotency } from "@formbridge/core";
import { health } from "./health.ts";
import { answer, findRecord, liveRecord, type Tables } from "./tables.ts";

export function createIdempotency(tables: Tables): Idempotency {
  return {
    enter: createKeyLine(),
    find: (key) => answer(tables, () => findRecord(tables, key)),
    forgetExpired: (limit) =>
      answer(tables, () => {
        let forgotten = 0;
        for (const [name, record] of tables.records) {
          if (forgotten === limit) break;
          if (liveRecord(tables, record)) continue;
          tables.records.delete(name);
          forgotten += 1;
        }
        return forgotten;
      }),
    health: () => health(tables),
  };
}
