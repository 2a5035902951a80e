import type { StoreSizes } from "@formbridge/core";
import type { Tables } from "./tables.ts";

export function sizesOf({ tokens, records, submissions }: Tables): StoreSizes {
  const byIntake: Record<string, number> = {};
  for (const { submissionId } of records.values()) {
    const intakeId = submissions.get(submissionId)?.row.submission.intakeId ?? "";
    byIntake[intakeId] = (byIntake[intakeId] ?? 0) + 1;
  }
  return { tokens: tokens.size, records: byIntake };
}
