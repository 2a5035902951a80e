import type { Intakes } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

export function createIntakes(tables: Tables): Intakes {
  return {
    get: (id) => answer(tables, () => tables.intakes.get(id)),
    definition: (digest) => answer(tables, () => tables.definitions.get(digest)),
    list: ({ tenant, after = "" }, limit) =>
      answer(tables, () =>
        [...tables.intakes.values()]
          .filter((intake) => (tenant === undefined || intake.tenant === tenant) && intake.definition.id > after)
          .sort((a, b) => (a.definition.id < b.definition.id ? -1 : 1))
          .slice(0, limit),
      ),
    count: ({ tenant }, atMost) =>
      answer(tables, () => {
        const found = [...tables.intakes.values()].filter((intake) => intake.tenant === tenant);
        return Math.min(atMost, found.length);
      }),
    put: (given, expect) =>
      answer(tables, () => {
        const intake = structuredClone(given);
        const current = tables.intakes.get(intake.definition.id);
        if (current?.digest !== expect || (current !== undefined && current.tenant !== intake.tenant)) return "changed";
        const plain = (id: string) => id.replaceAll("-", "_");
        const { id } = intake.definition;
        const twin = [...tables.intakes.keys()].find((other) => other !== id && plain(other) === plain(id));
        if (twin !== undefined && tables.intakes.get(twin)?.retired === false) return "collides";
        tables.definitions.set(intake.digest, intake.definition);
        tables.intakes.set(intake.definition.id, { ...intake, retired: false, updatedAt: tables.now() });
        return "stored";
      }),
    retire: ({ tenant, id }) =>
      answer(tables, () => {
        const current = tables.intakes.get(id);
        if (current === undefined || current.tenant !== tenant || current.retired) return false;
        current.retired = true;
        current.updatedAt = tables.now();
        return true;
      }),
  };
}
