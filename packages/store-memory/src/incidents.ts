import type { Block, Blocks, Incident, IncidentFilter, Incidents } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

const isIn = (one: Incident, { tenant, state, kind, submissionId }: IncidentFilter): boolean =>
  one.tenant === tenant &&
  (state === undefined || one.state === state) &&
  (kind === undefined || one.kind === kind) &&
  (submissionId === undefined || one.evidence.submissionId === submissionId);

export function createIncidents(tables: Tables): Incidents {
  const { incidents } = tables;
  const all = (): Incident[] =>
    [...incidents.values()].sort((one, other) => (one.incidentId < other.incidentId ? 1 : -1));
  const ask = <Value>(question: () => Value): Promise<Value> => answer(tables, () => structuredClone(question()));
  return {
    add: (incident) =>
      ask(() => {
        const isKnown = all().some(({ cause, number }) => cause === incident.cause && number === incident.number);
        if (!isKnown) incidents.set(incident.incidentId, structuredClone(incident));
        return !isKnown;
      }),
    get: ({ tenant, incidentId }) =>
      ask(() => all().find((one) => one.incidentId === incidentId && one.tenant === tenant)),
    latest: (cause) =>
      ask(
        () =>
          all()
            .filter((one) => one.cause === cause)
            .sort((one, other) => other.number - one.number)[0],
      ),
    update: (incident) =>
      ask(() => {
        if (incidents.get(incident.incidentId)?.revision !== incident.revision - 1) return false;
        incidents.set(incident.incidentId, structuredClone(incident));
        return true;
      }),
    list: (where, limit) =>
      ask(() =>
        all()
          .filter((one) => isIn(one, where) && (where.after === undefined || one.incidentId < where.after))
          .slice(0, limit),
      ),
    count: (where, atMost) => ask(() => Math.min(atMost, all().filter((one) => isIn(one, where)).length)),
    due: (before, limit) =>
      ask(() =>
        all()
          .filter(({ due }) => due !== undefined && due.at < before)
          .sort((one, other) => (one.due?.at ?? 0) - (other.due?.at ?? 0))
          .slice(0, limit),
      ),
    forget: (before, limit) =>
      ask(() => {
        const old = all().filter(({ state, lastSeenAt }) => state === "closed" && lastSeenAt < before);
        for (const { incidentId } of old.slice(0, limit)) incidents.delete(incidentId);
        return Math.min(limit, old.length);
      }),
  };
}

export function createBlocks(tables: Tables): Blocks {
  const { blocks } = tables;
  const all = (): Block[] => [...blocks.values()].sort((one, other) => (one.blockId < other.blockId ? -1 : 1));
  return {
    add: (block) =>
      answer(tables, () => {
        if (!blocks.has(block.blockId)) blocks.set(block.blockId, structuredClone(block));
      }),
    remove: ({ tenant, blockId }) =>
      answer(tables, () => blocks.get(blockId)?.tenant === tenant && blocks.delete(blockId)),
    list: ({ tenant, after = "", from }, limit) =>
      answer(tables, () => {
        const isIn = (one: Block): boolean =>
          one.endsAt > from && one.blockId > after && (tenant === undefined || one.tenant === tenant);
        return structuredClone(all().filter(isIn).slice(0, limit));
      }),
    forget: (before, limit) =>
      answer(tables, () => {
        const over = all().filter(({ endsAt }) => endsAt < before);
        for (const { blockId } of over.slice(0, limit)) blocks.delete(blockId);
        return Math.min(limit, over.length);
      }),
  };
}
