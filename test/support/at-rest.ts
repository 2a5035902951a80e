import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import type { TestServer } from "./harness.ts";

/** Every row of every table, and every other file. Freed pages of SQLite are not rows: see docs/how-to/retention.md. */
export async function everythingStored(server: TestServer): Promise<string> {
  const files = readdirSync(server.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const databases = files.filter(({ name }) => name.endsWith(".db"));
  if (databases.length === 0) return await server.atRest();
  const rows = databases.flatMap(({ parentPath, name }) => {
    const db = new Sqlite(join(parentPath, name), { readonly: true });
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[];
    const found = tables.flatMap((table) => db.prepare(`SELECT * FROM "${table}"`).all());
    db.close();
    return found;
  });
  const others = files.filter(({ name }) => !/\.db(-wal|-shm)?$/.test(name));
  return (
    JSON.stringify(rows) +
    others.map(({ parentPath, name }) => name + readFileSync(join(parentPath, name), "latin1")).join()
  );
}
