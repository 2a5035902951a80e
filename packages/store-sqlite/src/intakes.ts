import type { Instant, Intakes, StoredIntake } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
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

export function createIntakes(db: Database, now: () => Instant, cache: ReadCache): Intakes {
  const byId = db.prepare<[string], IntakeColumns>(`${SELECT} WHERE i.id = ?`);
  const byDigest = db.prepare<[string], string>("SELECT definition FROM definitions WHERE digest = ?").pluck();
  const byTenant = db.prepare<[string, string, number], IntakeColumns>(
    `${SELECT} WHERE i.tenant = ? AND i.id > ? ORDER BY i.id LIMIT ?`,
  );
  const twin = db.prepare<[string, string]>(
    "SELECT 1 FROM intakes WHERE replace(id, '-', '_') = replace(?, '-', '_') AND id <> ? AND retired = 0",
  );
  const keep = db.prepare("INSERT OR IGNORE INTO definitions (digest, tenant, definition) VALUES (?, ?, ?)");
  const set = db.prepare(
    "INSERT OR REPLACE INTO intakes (id, tenant, source, digest, retired, updated_at) VALUES (?, ?, ?, ?, 0, ?)",
  );
  const retire = db.prepare(
    "UPDATE intakes SET retired = 1, updated_at = ? WHERE id = ? AND tenant = ? AND retired = 0",
  );

  const put = db.transaction((intake: Parameters<Intakes["put"]>[0], expect: string | undefined) => {
    const { tenant, source, definition, digest } = intake;
    const current = byId.get(definition.id);
    if (current?.digest !== expect || (current !== undefined && current.tenant !== tenant)) return "changed";
    if (twin.get(definition.id, definition.id) !== undefined) return "collides";
    keep.run(digest, tenant, JSON.stringify(definition));
    set.run(definition.id, tenant, source, digest, now());
    return "stored";
  });

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
    put: (intake, expect) =>
      answer(() => {
        cache.forget();
        return put.immediate(intake, expect);
      }),
    retire: ({ tenant, id }) =>
      answer(() => {
        cache.forget();
        return retire.run(now(), id, tenant).changes === 1;
      }),
  };
}
