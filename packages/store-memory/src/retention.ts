import { type Change, endedAt, erasedRecord, type Instant, type Retention, type Submission } from "@formbridge/core";
import { forgetHandoff } from "./handoffs.ts";
import { answer, type Tables } from "./tables.ts";

/** What an erasing change removes besides the row's own values. */
export function eraseRest(tables: Tables, { row, events, erase, redact = [] }: Change): void {
  const { submissionId } = row.submission;
  if (erase === true) eraseHistory(tables, submissionId, new Set(events.map(({ eventId }) => eventId)));
  const redacted = new Map(redact.map((event) => [event.eventId, event]));
  for (const stored of tables.eventsOf.get(submissionId) ?? []) {
    stored.event = redacted.get(stored.event.eventId) ?? stored.event;
  }
  for (const handoff of [...tables.handoffs.values()]) {
    if (handoff.submissionId === submissionId) forgetHandoff(tables, handoff);
  }
  for (const [linkId, link] of tables.reviewLinks) {
    if (link.submissionId === submissionId) tables.reviewLinks.delete(linkId);
  }
  for (const [name, record] of tables.records) {
    if (record.submissionId !== submissionId) continue;
    const { answerBy: _, ...rest } = record;
    tables.records.set(name, { ...rest, ...erasedRecord });
  }
}

/** Actor and payload of all events but those in `kept`, and every token. */
function eraseHistory(tables: Tables, submissionId: string, kept: ReadonlySet<string>): void {
  for (const stored of tables.eventsOf.get(submissionId) ?? []) {
    if (kept.has(stored.event.eventId)) continue;
    stored.event = { ...stored.event, actor: null, actorSalt: null, payload: null, payloadSalt: null };
  }
  const stored = tables.submissions.get(submissionId);
  if (stored !== undefined) stored.sealedToken = "";
  forgetTokens(tables, submissionId);
}

function forgetTokens(tables: Tables, submissionId: string): void {
  for (const [hash, token] of tables.tokens) if (token.submissionId === submissionId) tables.tokens.delete(hash);
}

export function createRetention(tables: Tables): Retention {
  const submissions = (): Submission[] => [...tables.submissions.values()].map(({ row }) => row.submission);
  const ended = () =>
    submissions().flatMap((submission) => {
      const at = endedAt(submission);
      return at === undefined || submission.erasedAt !== undefined ? [] : [{ submission, at }];
    });

  function remove(before: Instant, limit: number): number {
    const old = submissions()
      .filter(({ erasedAt }) => erasedAt !== undefined && erasedAt < before)
      .slice(0, limit);
    const ids = new Set(old.map(({ submissionId }) => submissionId));
    for (const id of ids) {
      tables.submissions.delete(id);
      tables.eventsOf.delete(id);
    }
    if (ids.size > 0) tables.events = tables.events.filter(({ event }) => !ids.has(event.submissionId));
    for (const [name, { submissionId }] of tables.records) if (ids.has(submissionId)) tables.records.delete(name);
    return ids.size;
  }

  return {
    definitions: () =>
      answer(tables, () => [...new Set(ended().map(({ submission }) => submission.definition))].sort()),
    endedBefore: (before, { definition, limit }) =>
      answer(tables, () =>
        ended()
          .filter(({ submission, at }) => submission.definition === definition && at < before)
          .sort((one, other) => one.at - other.at)
          .slice(0, limit)
          .map(({ submission: { tenant, submissionId } }) => ({ tenant, submissionId })),
      ),
    removeErased: (before, limit) => answer(tables, () => remove(before, limit)),
  };
}
