import { EVENT_STREAMS, type EventStream } from "@formbridge/contract";
import { type Backend, type ChainedEvent, type ChainHead, firstBrokenLink } from "@formbridge/core";
import { historyOf } from "./history.ts";

const BATCH = 500;

/** Of a tenant, newest first. */
export async function* submissionIds(backend: Backend, tenant: string): AsyncGenerator<string, void, undefined> {
  let before: string | undefined;
  for (;;) {
    const rows = await backend.submissions.list({ tenant }, { limit: BATCH, ...(before !== undefined && { before }) });
    for (const { submission } of rows) yield submission.submissionId;
    before = rows.at(-1)?.submission.submissionId;
    if (rows.length < BATCH) return;
  }
}

/** Where each stream ends, by what is kept beside the events: a history that was cut short does not reach it. */
async function endsOf(
  backend: Backend,
  where: { tenant: string; submissionId: string },
): Promise<Record<EventStream, ChainHead> | undefined> {
  const { submission: snapshot } = await backend.store.load({ by: { id: where.submissionId, tenant: where.tenant } });
  const audit = await backend.events.auditHeads(where);
  if (snapshot === undefined || audit === undefined) return undefined;
  return { submission: snapshot.submission.head, token: audit.tokenHead, idempotency: audit.idempotencyHead };
}

/** Re-computes one history, and looks for its ends, which were read first: what is written meanwhile comes after them. */
export async function verifyOne(
  backend: Backend,
  where: { tenant: string; submissionId: string },
): Promise<string | undefined> {
  const ends = await endsOf(backend, where);
  if (ends === undefined) return "there is no such submission";
  const events: ChainedEvent[] = [];
  for await (const event of historyOf(backend, where)) events.push(event);
  const broken = firstBrokenLink(events);
  if (broken !== undefined) return `${broken.eventId} (${broken.stream} ${broken.seq}): ${broken.problem}`;
  for (const stream of EVENT_STREAMS) {
    const { seq, hash } = ends[stream];
    const last = events.find((event) => event.stream === stream && event.seq === seq);
    if (seq > 0 && last?.hash !== hash) return `the ${stream} history does not reach its end, seq ${seq}`;
  }
  return undefined;
}
