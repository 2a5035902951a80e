import { createKeyQueue, type FoundRecord, type Idempotency, type KeyRecord } from "@formbridge/core";
import { health } from "./health.ts";
import { answer, findRecord, liveRecord, type Tables } from "./tables.ts";

const placeOf = ({ intakeId, ref }: FoundRecord): string => JSON.stringify([intakeId, ref.operation, ref.hash]);

export function createIdempotency(tables: Tables): Idempotency {
  const withScope = (record: KeyRecord): FoundRecord => {
    const { tenant = "", intakeId = "" } = tables.submissions.get(record.submissionId)?.row.submission ?? {};
    return { ...record, tenant, intakeId };
  };
  return {
    enter: createKeyQueue(),
    find: (key) => answer(tables, () => findRecord(tables, key)),
    expired: (limit) =>
      answer(tables, () =>
        [...tables.records.values()]
          .filter((record) => !liveRecord(tables, record))
          .slice(0, limit)
          .map(withScope)
          .map(({ ref, tenant, intakeId, submissionId, recordedAt, expiresAt }) => {
            return { ...ref, tenant, intakeId, submissionId, recordedAt, expiresAt };
          }),
      ),
    search: ({ tenant, hash }, limit) =>
      answer(tables, () =>
        [...tables.records.values()]
          .filter(({ ref }) => ref.hash.startsWith(hash))
          .map(withScope)
          .filter((record) => record.tenant === tenant)
          .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
          .slice(0, limit),
      ),
    health: () => health(tables),
  };
}
