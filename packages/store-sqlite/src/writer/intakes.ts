import type { Hash, Instant } from "@formbridge/core";
import type { Database } from "better-sqlite3";

export interface IntakeWrite {
  id: string;
  tenant: string;
  source: string;
  digest: Hash;
  /** JSON. */
  definition: string;
}

export function createIntakeWriter(db: Database) {
  const byId = db.prepare<[string], { digest: Hash; tenant: string }>(
    "SELECT digest, tenant FROM intakes WHERE id = ?",
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
  return {
    put(at: Instant, intake: IntakeWrite, expect: Hash | undefined): "stored" | "changed" | "collides" {
      const { id, tenant, source, digest, definition } = intake;
      const current = byId.get(id);
      if (current?.digest !== expect || (current !== undefined && current.tenant !== tenant)) return "changed";
      if (twin.get(id, id) !== undefined) return "collides";
      keep.run(digest, tenant, definition);
      set.run(id, tenant, source, digest, at);
      return "stored";
    },
    retire: (at: Instant, { tenant, id }: { tenant: string; id: string }): boolean =>
      retire.run(at, id, tenant).changes === 1,
  };
}
