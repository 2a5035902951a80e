import type { Database } from "better-sqlite3";
import { MIGRATIONS } from "./migrations/index.ts";
import type { Migration } from "./migrations/migration.ts";

const LEDGER = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  applied_at  TEXT NOT NULL
) STRICT`;

function appliedUpTo(db: Database): number {
  const ledger = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'").get();
  if (ledger === undefined) return 0;
  return db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM schema_migrations").pluck().get() ?? 0;
}

/** The steps that this database lacks, in order. Changes nothing; throws on a database that newer code has written. */
export function pendingMigrations(db: Database, known: readonly Migration[] = MIGRATIONS): Migration[] {
  const applied = appliedUpTo(db);
  const latest = known.at(-1)?.id ?? 0;
  if (applied > latest) {
    throw new Error(
      `The database ${db.name} has schema ${applied}, but this FormBridge knows schemas up to ${latest} only. ` +
        "Start the newer FormBridge that wrote it, or restore a backup from before the upgrade.",
    );
  }
  return known.filter((migration) => migration.id > applied);
}

/** Brings the schema up to date, all steps or none, and answers those it took. Safe to run twice, and by two processes at once. */
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
