import { createKeyLine, type Idempotency } from "@formbridge/core";
import { health } from "./health.ts";
import { answer, findRecord, liveRecord, type Tables } from "./tables.ts";

export function createIdempotency(tables: Tables): Idempotency {
  return {
    enter: createKeyLine(),
    find: (key) => answer(tables, () => findRecord(tables, key)),
    keysOf: ({ tenant, submissionId }) =>
      answer(tables, () => {
        const { submission } = tables.submissions.get(submissionId)?.row ?? {};
        if (submission?.tenant !== tenant) return [];
        const own = [...tables.records.values()].filter((record) => record.submissionId === submissionId);
        return own.map(({ ref }) => ({ ...ref, tenant, intakeId: submission.intakeId }));
      }),
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
