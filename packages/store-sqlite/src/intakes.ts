import type { Intakes, StoredIntake } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { CallWriter } from "./group-commit.ts";
import type { ReadCache } from "./read-cache.ts";

interface IntakeColumns extends Omit<StoredIntake, "definition" | "retired"> {
  definition: string;
  retired: number;
}

const intakeOf = (columns: IntakeColumns): StoredIntake => ({
  ...columns,
  definition: JSON.parse(columns.definition),
  retired: columns.retired === 1,
});

const SELECT = `SELECT i.tenant, i.source, d.definition, i.digest, i.retired, i.updated_at AS updatedAt
  FROM intakes AS i JOIN definitions AS d ON d.digest = i.digest`;

export function createIntakes(db: Database, cache: ReadCache, call: CallWriter): Intakes {
  const byId = db.prepare<[string], IntakeColumns>(`${SELECT} WHERE i.id = ?`);
  const byDigest = db.prepare<[string], string>("SELECT definition FROM definitions WHERE digest = ?").pluck();
  const byTenant = db.prepare<[string, string, number], IntakeColumns>(
    `${SELECT} WHERE i.tenant = ? AND i.id > ? ORDER BY i.id LIMIT ?`,
  );
  return {
    get: (id) =>
      answer(() => {
        const found = byId.get(id);
        return found === undefined ? undefined : intakeOf(found);
      }),
    definition: (digest) =>
      answer(() => {
        const found = byDigest.get(digest);
        return found === undefined ? undefined : JSON.parse(found);
      }),
    list: ({ tenant, after = "" }, limit) => answer(() => byTenant.all(tenant, after, limit).map(intakeOf)),
    put: ({ tenant, source, definition, digest }, expect) => {
      const intake = { id: definition.id, tenant, source, digest, definition: JSON.stringify(definition) };
      return call("putIntake", intake, expect).finally(cache.forget);
    },
    retire: ({ tenant, id }) => call("retireIntake", { tenant, id }).finally(cache.forget),
  };
}
