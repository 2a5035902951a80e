import type { Intakes } from "@formbridge/core";
import { computed, createIntakeList, toJson } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { dialect, sql, statement } from "./sql.ts";

const OUTCOME = computed<{ outcome: Awaited<ReturnType<Intakes["put"]>> }>(
  "formbridge.put_intake($1, $2, $3, $4, $5, $6) AS outcome",
);
const PUT = statement("put_intake", sql`SELECT ${OUTCOME}`);

export const createIntakes = (db: Database): Intakes => ({
  ...createIntakeList(dialect, db),
  put: async ({ tenant, source, definition, digest }, expect) => {
    const values = [definition.id, tenant, source, digest, toJson(definition), expect ?? null];
    return (await db.write(PUT, values))[0]?.outcome ?? "changed";
  },
});
