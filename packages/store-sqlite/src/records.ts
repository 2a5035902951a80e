import { createKeyLine, type Idempotency, type Instant, type ScopedKey } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { CallWriter } from "./group-commit.ts";
import type { HealthCheck } from "./health.ts";
import type { FindRecord } from "./writer/records.ts";

interface Sources {
  find: FindRecord;
  now: () => Instant;
  health: HealthCheck;
  call: CallWriter;
}

export function createIdempotency(db: Database, { find, now, health, call }: Sources): Idempotency {
  const of = (which: string): string => `SELECT r.tenant, r.intake_id AS intakeId, r.operation, r.hash
    FROM submissions AS s CROSS JOIN records AS r ON r.sid = s.sid AND r.keep_after_end_ms ${which}
    WHERE s.submission_id = @submissionId AND s.tenant = @tenant`;
  const keysOf = db.prepare<[{ tenant: string; submissionId: string }], ScopedKey>(
    `${of("IS NULL")} UNION ALL ${of("IS NOT NULL")}`,
  );
  return {
    enter: createKeyLine(),
    find: (key) => answer(() => find(key, now())),
    keysOf: ({ tenant, submissionId }) => answer(() => keysOf.all({ tenant, submissionId })),
    forgetExpired: (limit) => call("forgetRecords", limit),
    health,
  };
}
