import type { SecretChecks } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

export const createSecretChecks = (tables: Tables): SecretChecks => ({
  list: () => answer(tables, () => tables.secretChecks),
  replace: (checks, expected) =>
    answer(tables, () => {
      if (JSON.stringify(tables.secretChecks) !== JSON.stringify(expected)) return false;
      tables.secretChecks = [...checks];
      return true;
    }),
});
