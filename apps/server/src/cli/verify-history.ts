import { EVENT_STREAMS } from "@formbridge/contract";
import { type Backend, type ChainedEvent, firstBrokenLink } from "@formbridge/core";
import { historyOf } from "./history.ts";

const BATCH = 500;

/** A tenant's submissions, newest first. */
export async function* submissionIds(backend: Backend, tenant: string): AsyncGenerator<string, void, undefined> {
  let before: string | undefined;
  for (;;) {
    const rows = await backend.submissions.list({ tenant }, { limit: BATCH, ...(before !== undefined && { before }) });
    for (const { submission } of rows) yield submission.submissionId;
    before = rows.at(-1)?.submission.submissionId;
    if (rows.length < BATCH) return;
  }
}

/**
 * Recomputes one history and compares it with the submission's heads, which a truncated history doesn't reach. The
 * heads are read first, so events written meanwhile come after them.
 */
export async function verifyOne(
  backend: Backend,
  where: { tenant: string; submissionId: string },
): Promise<string | undefined> {
  const { submissionId: id, tenant } = where;
  const { submission: snapshot } = await backend.store.load({ by: { id, tenant } });
  if (snapshot === undefined) return "there is no such submission";
  const events: ChainedEvent[] = [];
  for await (const event of historyOf(backend, where)) events.push(event);
  const broken = firstBrokenLink(events);
  if (broken !== undefined) return `${broken.eventId} (${broken.stream} ${broken.seq}): ${broken.problem}`;
  for (const stream of EVENT_STREAMS) {
    const { seq, hash } = snapshot.submission.heads[stream];
    const last = events.find((event) => event.stream === stream && event.seq === seq);
    if (seq > 0 && last?.hash !== hash) return `the ${stream} history does not reach its end, seq ${seq}`;
  }
  return undefined;
}
