import type { Hash, Instant, Intakes, StoredIntake } from "@formbridge/core";
import { columnsOf, createIntakeList, definitions, intakes, type SqlRunner, toJson } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import type { ReadCache } from "./read-cache.ts";
import { dialect, pick, prepare, prepareInsert, sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

interface Sources {
  cache: ReadCache;
  runner: SqlRunner;
  writer: Writer;
}

export function createIntakes(db: Database, { cache, runner, writer }: Sources): Intakes {
  const list = createIntakeList(dialect, runner);
  const put = createPut(db);
  return {
    ...list,
    put: (intake, expect) => writer.write((at) => put(intake, expect, at)).finally(cache.forget),
    retire: (which) => list.retire(which).finally(cache.forget),
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
