import type { Block, Incident } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { TENANT } from "./fixtures.ts";
import { type OpenBackend, useBackend } from "./harness.ts";

let made = 0;
const START = Date.UTC(2026, 0, 1);

function newIncident(over: Partial<Incident> = {}): Incident {
  made += 1;
  return {
    incidentId: `inc_${String(made).padStart(6, "0")}`,
    tenant: TENANT,
    cause: `cause ${made}`,
    number: 1,
    revision: 1,
    kind: "token_shared",
    state: "open",
    evidence: { submissionId: "sub_1", address: "10.0.0.1" },
    count: 4,
    threshold: 3,
    windowMs: 300_000,
    raisedAt: START,
    lastSeenAt: START,
    responses: [],
    ...over,
  };
}

const newBlock = (over: Partial<Block> = {}): Block => {
  made += 1;
  const blockId = `blk_${String(made).padStart(6, "0")}`;
  return { blockId, tenant: TENANT, network: "10.0.0.1", createdAt: START, endsAt: START + 1_000, ...over };
};

export function describeIncidents(open: OpenBackend): void {
  describe("incidents", () => {
    const subject = useBackend(open);

    it("[ALARMS-ONCE] one cause and number is added once, even when instances race", async () => {
      const { incidents } = subject();
      const [one, other] = [newIncident({ cause: "c" }), newIncident({ cause: "c" })];
      const added = await Promise.all([incidents.add(one), incidents.add(other)]);
      expect(added.filter(Boolean)).toHaveLength(1);
      expect(await incidents.add(newIncident({ cause: "c", number: 2 }))).toBe(true);
      expect(await incidents.latest("c")).toMatchObject({ number: 2 });
      expect(await incidents.latest("d")).toBeUndefined();
    });

    it("are read as written, by their own tenant only", async () => {
      const { incidents } = subject();
      const incident = newIncident({ due: { responses: ["block"], at: START, tries: 0 }, note: "é" });
      await incidents.add(incident);
      const { incidentId } = incident;
      expect(await incidents.get({ tenant: TENANT, incidentId })).toEqual(incident);
      expect(await incidents.get({ tenant: "other", incidentId })).toBeUndefined();
    });

    it("update from the previous revision only", async () => {
      const { incidents } = subject();
      const incident = newIncident();
      await incidents.add(incident);
      const next: Incident = { ...incident, revision: 2, state: "closed" };
      expect(await incidents.update({ ...next, revision: 3 })).toBe(false);
      expect(await incidents.update(next)).toBe(true);
      expect(await incidents.update(next)).toBe(false);
      expect(await incidents.get({ tenant: TENANT, incidentId: incident.incidentId })).toEqual(next);
    });

    it("list newest first, filtered, page by page", async () => {
      const { incidents } = subject();
      const [a, b, c] = [newIncident(), newIncident({ kind: "failed_lookups", evidence: {} }), newIncident()];
      const others = newIncident({ tenant: "other" });
      for (const one of [c, others, a, b]) await incidents.add(one);
      await incidents.update({ ...c, state: "closed", revision: 2 });
      const ids = async (where: object, limit = 10) =>
        (await incidents.list({ tenant: TENANT, ...where }, limit)).map(({ incidentId }) => incidentId);
      expect(await ids({})).toEqual([c.incidentId, b.incidentId, a.incidentId]);
      expect(await ids({}, 1)).toEqual([c.incidentId]);
      expect(await ids({ after: c.incidentId })).toEqual([b.incidentId, a.incidentId]);
      expect(await ids({ state: "open" })).toEqual([b.incidentId, a.incidentId]);
      expect(await ids({ kind: "failed_lookups" })).toEqual([b.incidentId]);
      expect(await ids({ submissionId: "sub_1", state: "open" })).toEqual([a.incidentId]);
      expect(await incidents.count({ tenant: TENANT, state: "open" }, 10)).toBe(2);
      expect(await incidents.count({ tenant: TENANT }, 2)).toBe(2);
    });

    it("are due until their responses are done; closed ones are removed after a time", async () => {
      const { incidents } = subject();
      const due = newIncident({ due: { responses: [], at: START + 10, tries: 0 } });
      for (const one of [due, newIncident()]) await incidents.add(one);
      expect(await incidents.due(START + 10, 10)).toEqual([]);
      expect(await incidents.due(START + 11, 10)).toEqual([due]);
      const { due: _, ...done } = due;
      await incidents.update({ ...done, revision: 2, state: "closed" });
      expect(await incidents.due(START + 11, 10)).toEqual([]);
      expect(await incidents.forget(START, 10)).toBe(0);
      expect(await incidents.forget(START + 1, 10)).toBe(1);
      expect(await incidents.count({ tenant: TENANT }, 10)).toBe(1);
    });
  });

  describe("blocks", () => {
    const subject = useBackend(open);

    it("list by id until they end, of one tenant or of all", async () => {
      const { blocks } = subject();
      const [a, b] = [newBlock({ reason: "x" }), newBlock({ tenant: "other", endsAt: START + 2_000 })];
      for (const one of [b, a]) await blocks.add(one);
      await blocks.add({ ...a, network: "10.9.9.9" });
      expect(await blocks.list({ from: START }, 10)).toEqual([a, b]);
      expect(await blocks.list({ from: START }, 1)).toEqual([a]);
      expect(await blocks.list({ from: START, after: a.blockId }, 10)).toEqual([b]);
      expect(await blocks.list({ from: START, tenant: TENANT }, 10)).toEqual([a]);
      expect(await blocks.list({ from: START + 1_000 }, 10)).toEqual([b]);
      expect(await blocks.forget(START + 1_001, 10)).toBe(1);
    });

    it("are removed by their own tenant only, once", async () => {
      const { blocks } = subject();
      const block = newBlock();
      await blocks.add(block);
      const { blockId } = block;
      expect(await blocks.remove({ tenant: "other", blockId })).toBe(false);
      expect(await blocks.remove({ tenant: TENANT, blockId })).toBe(true);
      expect(await blocks.remove({ tenant: TENANT, blockId })).toBe(false);
    });
  });
}
