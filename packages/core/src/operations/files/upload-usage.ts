import { type Instant, MINUTE } from "../../domain/instant.ts";
import type { Submissions } from "../../ports/submissions.ts";

/** How long uploads through other instances, and removed files, may go unnoticed. */
const RECOUNT_MS = 10 * MINUTE;
/** A full intake is recounted sooner, because files may have been removed. */
const RECOUNT_FULL_MS = MINUTE;
const PAGE = 500;
/** Beyond this many intakes the oldest counts are dropped, and computed again when needed. */
const MAX_INTAKES = 10_000;

interface Usage {
  bytes: number;
  countedAt: Instant;
}

/** How many bytes an intake's files use. */
export interface UploadUsage {
  /** Takes `bytes` of the intake's quota, if they are left. */
  take(
    intake: { tenant: string; intakeId: string },
    asked: { bytes: number; limit: number; now: Instant },
  ): Promise<boolean>;
}

/**
 * The submissions are authoritative: they are counted once after the start and every ten minutes, so that nothing
 * drifts or gets lost with the process. In between, this process adds what it announces; several instances can exceed a
 * quota by what they accept within ten minutes.
 */
export function createUploadUsage(submissions: Submissions): UploadUsage {
  const usages = new Map<string, Usage>();
  const counting = new Map<string, Promise<Usage>>();

  async function count(key: string, { tenant, intakeId }: { tenant: string; intakeId: string }, now: Instant) {
    let bytes = 0;
    for (let after = ""; ; ) {
      const rows = await submissions.list({ tenant, intakeIds: [intakeId] }, { limit: PAGE, after });
      for (const { submission } of rows) {
        for (const { sizeBytes, confirmed } of submission.uploads) bytes += confirmed?.sizeBytes ?? sizeBytes;
      }
      const last = rows.at(-1)?.submission.submissionId;
      if (rows.length < PAGE || last === undefined) break;
      after = last;
    }
    const usage = { bytes, countedAt: now };
    const [oldest] = usages.keys();
    if (usages.size >= MAX_INTAKES && oldest !== undefined) usages.delete(oldest);
    usages.set(key, usage);
    return usage;
  }

  /** Requests that arrive while an intake is being counted wait for that count. */
  async function recount(key: string, intake: { tenant: string; intakeId: string }, now: Instant): Promise<Usage> {
    const running = counting.get(key) ?? count(key, intake, now).finally(() => counting.delete(key));
    counting.set(key, running);
    return await running;
  }

  return {
    async take(intake, { bytes, limit, now }) {
      const key = JSON.stringify([intake.tenant, intake.intakeId]);
      let usage = usages.get(key);
      if (usage === undefined || now - usage.countedAt >= RECOUNT_MS) usage = await recount(key, intake, now);
      if (usage.bytes + bytes > limit && now - usage.countedAt >= RECOUNT_FULL_MS)
        usage = await recount(key, intake, now);
      if (usage.bytes + bytes > limit) return false;
      usage.bytes += bytes;
      return true;
    },
  };
}
