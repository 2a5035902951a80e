import type { Database } from "better-sqlite3";
import { MIGRATIONS, type Migration } from "./schema.ts";

const LEDGER = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  applied_at  TEXT NOT NULL
) STRICT`;

interface Applied {
  id: number;
  name: string;
}

function appliedTo(db: Database): Applied[] {
  const ledger = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'").get();
  if (ledger === undefined) return [];
  return db.prepare<[], Applied>("SELECT id, name FROM schema_migrations ORDER BY id").all();
}

/** The steps that this database lacks, in order. Changes nothing; throws if other code created the database. */
export function pendingMigrations(db: Database, known: readonly Migration[] = MIGRATIONS): Migration[] {
  const steps = appliedTo(db);
  const applied = steps.at(-1)?.id ?? 0;
  const latest = known.at(-1)?.id ?? 0;
  const foreign = steps.find((step) => known.some(({ id, name }) => id === step.id && name !== step.name));
  if (foreign !== undefined) {
    throw new Error(
      `The database ${db.name} was made by a FormBridge that was never released: its schema ${foreign.id} is ` +
        `"${foreign.name}". Start with a new data folder.`,
    );
  }
  if (applied > latest) {
    throw new Error(
      `The database ${db.name} has schema ${applied}, but this FormBridge knows schemas up to ${latest} only. ` +
        "Start the newer FormBridge that wrote it, or restore a backup from before the upgrade.",
    );
  }
  return known.filter((migration) => migration.id > applied);
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
