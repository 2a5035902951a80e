import { type Migration, pendingAmong } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { MIGRATIONS } from "./schema.ts";

const LEDGER = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  applied_at  TEXT NOT NULL
) STRICT`;

/** The steps that this database lacks, in order. Changes nothing; throws if this code can't use the database. */
export function pendingMigrations(db: Database, known: readonly Migration[] = MIGRATIONS): Migration[] {
  const ledger = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'").get();
  const applied =
    ledger === undefined ? [] : db.prepare<[], Migration>("SELECT id, name FROM schema_migrations ORDER BY id").all();
  return pendingAmong(known, { database: db.name, applied });
}

/** Brings the schema up to date, all steps or none, and returns the steps it ran. Safe to run twice, and concurrently. */
export function migrate(db: Database, known: readonly Migration[] = MIGRATIONS): Migration[] {
  if (pendingMigrations(db, known).length === 0) return [];
  return db
    .transaction(() => {
      db.exec(LEDGER);
      const pending = pendingMigrations(db, known);
      const note = db.prepare("INSERT INTO schema_migrations (id, name, applied_at) VALUES (?, ?, datetime('now'))");
      for (const { id, name, sql } of pending) {
        db.exec(sql);
        note.run(id, name);
      }
      return pending;
    })
    .immediate();
}
