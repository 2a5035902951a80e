import { describe, expect, it } from "vitest";
import { newIntake, TENANT } from "./fixtures.ts";
import { type OpenBackend, useBackend } from "./harness.ts";

export function describeIntakes(open: OpenBackend): void {
  describe("intakes", () => {
    const subject = useBackend(open);

    it("keep a definition under its id", async () => {
      const { intakes, clock } = subject();
      const intake = newIntake("survey");
      expect(await intakes.get("survey")).toBeUndefined();
      expect(await intakes.put(intake, undefined)).toBe("stored");
      expect(await intakes.get("survey")).toEqual({ ...intake, retired: false, updatedAt: clock.now() });
    });

    it("change only for a caller who knows the current digest", async () => {
      const { intakes } = subject();
      const [first, second] = [newIntake("survey"), newIntake("survey", "2.0.0")];
      expect(await intakes.put(second, first.digest)).toBe("changed");
      expect(await intakes.put(first, undefined)).toBe("stored");
      expect(await intakes.put(second, undefined)).toBe("changed");
      expect(await intakes.put(second, second.digest)).toBe("changed");
      expect((await intakes.get("survey"))?.digest).toBe(first.digest);
      expect(await intakes.definition(second.digest)).toBeUndefined();
      expect(await intakes.put(second, first.digest)).toBe("stored");
      expect((await intakes.get("survey"))?.digest).toBe(second.digest);
    });

    it("keep every earlier definition", async () => {
      const { intakes } = subject();
      const [first, second] = [newIntake("survey"), newIntake("survey", "2.0.0")];
      await intakes.put(first, undefined);
      await intakes.put(second, first.digest);
      expect(await intakes.definition(first.digest)).toEqual(first.definition);
      expect(await intakes.definition(second.digest)).toEqual(second.definition);
      expect(await intakes.put(first, second.digest)).toBe("stored");
    });

    it("belong to one tenant", async () => {
      const { intakes } = subject();
      const intake = newIntake("survey");
      await intakes.put(intake, undefined);
      expect(await intakes.put({ ...intake, tenant: "other" }, intake.digest)).toBe("changed");
      expect(await intakes.retire({ tenant: "other", id: "survey" })).toBe(false);
      expect(await intakes.list({ tenant: "other" }, 10)).toEqual([]);
    });

    it("retire once, and come back when registered again", async () => {
      const { intakes, clock } = subject();
      const intake = newIntake("survey");
      expect(await intakes.retire({ tenant: TENANT, id: "survey" })).toBe(false);
      await intakes.put(intake, undefined);
      clock.advance(1);
      expect(await intakes.retire({ tenant: TENANT, id: "survey" })).toBe(true);
      expect(await intakes.retire({ tenant: TENANT, id: "survey" })).toBe(false);
      expect(await intakes.get("survey")).toMatchObject({ retired: true, updatedAt: clock.now() });
      expect(await intakes.definition(intake.digest)).toEqual(intake.definition);
      expect(await intakes.put(intake, intake.digest)).toBe("stored");
      expect(await intakes.get("survey")).toMatchObject({ retired: false });
    });

    it("list by id, retired ones too, page by page", async () => {
      const { intakes } = subject();
      for (const id of ["c", "a", "b"]) await intakes.put(newIntake(id), undefined);
      await intakes.retire({ tenant: TENANT, id: "b" });
      const idsAfter = async (after?: string) =>
        (await intakes.list({ tenant: TENANT, ...(after && { after }) }, 2)).map(({ definition }) => definition.id);
      expect(await idsAfter()).toEqual(["a", "b"]);
      expect(await idsAfter("b")).toEqual(["c"]);
      expect(await idsAfter("c")).toEqual([]);
      expect(await intakes.count({ tenant: TENANT }, 10)).toBe(3);
      expect(await intakes.count({ tenant: TENANT }, 2)).toBe(2);
      expect(await intakes.count({ tenant: "other" }, 10)).toBe(0);
    });

    it("list those of every tenant when none is named", async () => {
      const { intakes } = subject();
      await intakes.put(newIntake("a"), undefined);
      await intakes.put({ ...newIntake("b"), tenant: "other" }, undefined);
      await intakes.put(newIntake("c"), undefined);
      const ids = async (after?: string) =>
        (await intakes.list(after === undefined ? {} : { after }, 2)).map(({ definition }) => definition.id);
      expect(await ids()).toEqual(["a", "b"]);
      expect(await ids("b")).toEqual(["c"]);
    });

    it("refuse an id that differs from another one only in - and _, until that one is retired", async () => {
      const { intakes } = subject();
      await intakes.put(newIntake("a-b_c"), undefined);
      expect(await intakes.put({ ...newIntake("a_b-c"), tenant: "other" }, undefined)).toBe("collides");
      expect(await intakes.get("a_b-c")).toBeUndefined();
      await intakes.retire({ tenant: newIntake("a-b_c").tenant, id: "a-b_c" });
      expect(await intakes.put(newIntake("a_b-c"), undefined)).toBe("stored");
    });
  });
}
