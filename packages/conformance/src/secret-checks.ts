import { describe, expect, it } from "vitest";
import { type OpenBackend, useBackend } from "./harness.ts";

export function describeSecretChecks(open: OpenBackend): void {
  describe("secret checks", () => {
    const subject = useBackend(open);

    it("are empty at first, and then what was stored last", async () => {
      const { secretChecks } = subject();
      expect(await secretChecks.list()).toEqual([]);
      expect(await secretChecks.replace(["a.1"], [])).toBe(true);
      expect(await secretChecks.list()).toEqual(["a.1"]);
      expect(await secretChecks.replace(["a.1", "b.2"], ["a.1"])).toBe(true);
      expect(await secretChecks.list()).toEqual(["a.1", "b.2"]);
    });

    it("are replaced only by a caller who knows them", async () => {
      const { secretChecks } = subject();
      expect(await secretChecks.replace(["a.1"], ["x.0"])).toBe(false);
      await secretChecks.replace(["a.1"], []);
      expect(await secretChecks.replace(["b.2"], [])).toBe(false);
      expect(await secretChecks.replace(["b.2"], ["a.2"])).toBe(false);
      expect(await secretChecks.list()).toEqual(["a.1"]);
    });

    it("of servers that start at the same time, one stores its own first", async () => {
      const { secretChecks } = subject();
      const starts = Array.from({ length: 8 }, (_, index) => [`${index}.0`]);
      const done = await Promise.all(starts.map((checks) => secretChecks.replace(checks, [])));
      expect(done.filter(Boolean)).toHaveLength(1);
      expect(await secretChecks.list()).toEqual(starts[done.indexOf(true)]);
    });

    it("outlive the process that wrote them, if the data does", async () => {
      const { secretChecks, reopen } = subject();
      await secretChecks.replace(["a.1"], []);
      if (reopen === undefined) return;
      expect(await (await reopen()).secretChecks.list()).toEqual(["a.1"]);
    });
  });
}
