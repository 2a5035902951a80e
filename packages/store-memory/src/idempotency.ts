import { createKeyQueue, type Idempotency } from "@formbridge/core";
import { health } from "./health.ts";
import { answer, findRecord, liveRecord, type Tables } from "./tables.ts";

export function createIdempotency(tables: Tables): Idempotency {
  return {
    enter: createKeyQueue(),
    find: (key) => answer(tables, () => findRecord(tables, key)),
    expired: (limit) =>
      answer(tables, () =>
        [...tables.records.values()]
          .filter((record) => !liveRecord(tables, record))
          .slice(0, limit)
          .map(({ ref, submissionId, recordedAt, expiresAt }) => {
            const { tenant = "", intakeId = "" } = tables.submissions.get(submissionId)?.row.submission ?? {};
            return { ...ref, tenant, intakeId, submissionId, recordedAt, expiresAt };
          }),
      ),
    health: () => health(tables),
  };
}
