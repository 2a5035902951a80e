import { type Change, type Committed, handoffsIn, type Store, StoreDown } from "@formbridge/core";
import { expect, test } from "vitest";
import { campaign } from "./campaign.ts";
import type { Sabotage } from "./world.ts";

/** A store whose commits fail now and then. */
const spoiled =
  (spoil: (store: Store, change: Change) => Promise<Committed> | undefined): Sabotage =>
  (store) => {
    let commits = 0;
    const commit = (change: Change): Promise<Committed> => {
      commits += 1;
      const spoilt = commits % 5 === 0 ? spoil(store, change) : undefined;
      return spoilt ?? store.commit(change);
    };
    return { load: (query) => store.load(query), commit };
  };

const SABOTAGES: Record<string, Sabotage> = {
  "accepts a write on an old revision": spoiled(async (store, change) => {
    const { row, tenant, expect: wanted } = change;
    if ("absent" in wanted) return await store.commit(change);
    const { submission } = await store.load({ by: { id: row.submission.submissionId, tenant } });
    return await store.commit({ ...change, expect: { revision: submission?.submission.revision ?? 0 } });
  }),
  "acknowledges a write and doesn't keep it": spoiled((_, change) =>
    "absent" in change.expect ? undefined : Promise.resolve({ kind: "committed", at: 0 }),
  ),
  "loses the record of a response": spoiled((store, change) => {
    const { key: _, ...rest } = change;
    return change.key === undefined ? undefined : store.commit(rest);
  }),
  "reports that nothing was written, although it was": spoiled(async (store, change) => {
    await store.commit(change);
    throw new StoreDown("sabotage", "not_applied");
  }),
  "loses an event": spoiled((store, change) => store.commit({ ...change, events: change.events.slice(1) })),
  "forgets that a hand-off was revoked": spoiled((store, change) => {
    const side = handoffsIn(change.side).map(({ revokedAt: _, ...handoff }) => ({ kind: "handoff" as const, handoff }));
    return side.length === 0 ? undefined : store.commit({ ...change, side });
  }),
  "loses a hand-off": spoiled((store, change) =>
    change.side.length === 0 ? undefined : store.commit({ ...change, side: [] }),
  ),
  "returns a rotated token as current": (store) => ({
    commit: (change) => store.commit(change),
    load: async (query) => {
      const loaded = await store.load(query);
      const { submission } = loaded;
      if (submission !== undefined && submission.submission.version > 2) submission.submission.version -= 1;
      return loaded;
    },
  }),
};

for (const [what, sabotage] of Object.entries(SABOTAGES)) {
  test(`the simulation notices a store that ${what}`, async () => {
    const { failure } = await campaign({ firstSeed: 1, operations: 20_000, sabotage });
    expect(failure).toBeDefined();
  });
}
