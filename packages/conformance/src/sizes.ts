import { describe, expect, it } from "vitest";
import { creation, HOUR, INTAKE, keyWrite } from "./fixtures.ts";
import { type OpenBackend, useBackend } from "./harness.ts";

export function describeSizes(open: OpenBackend): void {
  describe("sizes", () => {
    const subject = useBackend(open);

    it("an empty store has no entries and no jobs", async () => {
      const { sizes, jobsWaiting, connectionsInUse } = subject();
      expect(await sizes()).toEqual({ tokens: 0, records: {} });
      expect(await jobsWaiting()).toBe(0);
      expect(connectionsInUse()).toBeGreaterThanOrEqual(0);
    });

    it("tokens are counted, records by intake, and jobs whether due or not", async () => {
      const { store, clock, sizes, jobsWaiting } = subject();
      const at = clock.now();
      const key = keyWrite({ expiresAt: at + HOUR });
      const jobs = [{ key: "later", kind: "deliver" as const, runAt: at + HOUR }];
      await store.commit(creation({ at }, { key, jobs }));
      await store.commit(creation({ at }));
      expect(await sizes()).toEqual({ tokens: 2, records: { [INTAKE]: 1 } });
      expect(await jobsWaiting()).toBe(1);
    });
  });
}
