import type { Hash, Instant, Intakes, StoredIntake } from "@formbridge/core";
import { columnsOf, definitions, fromJson, intakeOf, intakes, toJson } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { ReadCache } from "./read-cache.ts";
import { pick, prepare, prepareCount, prepareInsert, sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

const SELECT = sql`SELECT ${pick(intakes, "i", "tenant", "source", "digest", "retired", "updated_at")},
  ${pick(definitions, "d", "definition")} FROM ${intakes} AS i JOIN ${definitions} AS d ON d.digest = i.digest`;

export function createIntakes(db: Database, cache: ReadCache, writer: Writer): Intakes {
  const byId = prepare(db, { ...SELECT, text: `${SELECT.text} WHERE i.id = ?` });
  const byTenant = prepare(db, {
    ...SELECT,
    text: `${SELECT.text} WHERE i.tenant = ? AND i.id > ? ORDER BY i.id LIMIT ?`,
  });
  const all = prepare(db, { ...SELECT, text: `${SELECT.text} WHERE i.id > ? ORDER BY i.id LIMIT ?` });
  const byDigest = prepare(
    db,
    sql`SELECT ${pick(definitions, "d", "definition")} FROM ${definitions} AS d WHERE d.digest = unhex(?)`,
  );
  const retire = db.prepare(
    "UPDATE intakes SET retired = 1, updated_at = ? WHERE id = ? AND tenant = ? AND retired = 0",
  );
  const put = createPut(db);
  const count = prepareCount(db, "intakes");
  return {
    get: (id) =>
      answer(() => {
        const found = byId.get(id);
        return found && intakeOf(found);
      }),
    definition: (digest) =>
      answer(() => {
        const found = byDigest.get(digest);
        return found && fromJson(found.definition);
      }),
    list: ({ tenant, after = "" }, limit) =>
      answer(() => (tenant === undefined ? all.all(after, limit) : byTenant.all(tenant, after, limit)).map(intakeOf)),
    count: ({ tenant }, atMost) => answer(() => count.get(tenant, atMost) ?? 0),
    put: (intake, expect) => writer.write((at) => put(intake, expect, at)).finally(cache.forget),
    retire: ({ tenant, id }) => writer.write((at) => retire.run(at, id, tenant).changes === 1).finally(cache.forget),
  };
}

/** Only inside a transaction. */
function createPut(db: Database) {
  const current = prepare(
    db,
    sql`SELECT ${pick(intakes, "i", "digest", "tenant")} FROM ${intakes} AS i WHERE i.id = ?`,
  );
  const twin = db.prepare<[string, string]>(
    "SELECT 1 FROM intakes WHERE replace(id, '-', '_') = replace(?, '-', '_') AND id <> ? AND retired = 0",
  );
  const keep = prepareInsert(db, definitions, { columns: columnsOf(definitions), verb: "INSERT OR IGNORE" });
  const set = prepareInsert(db, intakes, { columns: columnsOf(intakes), verb: "INSERT OR REPLACE" });
  return (
    { tenant, source, definition, digest }: Omit<StoredIntake, "retired" | "updatedAt">,
    expect: Hash | undefined,
    at: Instant,
  ): "stored" | "changed" | "collides" => {
    const { id } = definition;
    const known = current.get(id);
    if (known?.digest !== expect || (known !== undefined && known.tenant !== tenant)) return "changed";
    if (twin.get(id, id) !== undefined) return "collides";
    keep({ digest, tenant, definition: toJson(definition) });
    set({ id, tenant, source, digest, retired: false, updated_at: at });
    return "stored";
  };
}
