import { type Handoff, type Handoffs, handoffHashes } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

export function putHandoff(tables: Tables, handoff: Handoff): void {
  const { handoffId } = handoff;
  forgetHandoff(tables, tables.handoffs.get(handoffId));
  tables.handoffs.set(handoffId, handoff);
  for (const hash of handoffHashes(handoff)) tables.sessions.set(hash, handoffId);
}

export function forgetHandoff(tables: Tables, handoff: Handoff | undefined): void {
  if (handoff === undefined) return;
  tables.handoffs.delete(handoff.handoffId);
  for (const hash of handoffHashes(handoff)) tables.sessions.delete(hash);
}

export function createHandoffs(tables: Tables): Handoffs {
  return {
    ofSubmission: (submissionId) =>
      answer(tables, () =>
        [...tables.handoffs.values()]
          .filter((handoff) => handoff.submissionId === submissionId)
          .sort((a, b) => (a.handoffId > b.handoffId ? -1 : 1)),
      ),
    list: ({ tenant, before }, limit) =>
      answer(tables, () =>
        [...tables.handoffs.values()]
          .filter((handoff) => handoff.tenant === tenant && (before === undefined || handoff.handoffId < before))
          .sort((a, b) => (a.handoffId > b.handoffId ? -1 : 1))
          .slice(0, limit),
      ),
    count: ({ tenant }, atMost) =>
      answer(tables, () => {
        const all = [...tables.handoffs.values()].filter((handoff) => handoff.tenant === tenant);
        return Math.min(all.length, atMost);
      }),
    forgetExpired: (before, limit) =>
      answer(tables, () => {
        const old = [...tables.handoffs.values()].filter(({ forgetAfter }) => forgetAfter < before).slice(0, limit);
        for (const handoff of old) forgetHandoff(tables, handoff);
        return old.length;
      }),
  };
}
