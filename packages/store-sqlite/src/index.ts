export { openSqliteBackend, type SqliteOptions } from "./backend.ts";
export { openCopySource } from "./copy-source.ts";
export { openDatabase } from "./database.ts";
export { migrate, pendingMigrations } from "./migrate.ts";
export { claimFile, type Ownership } from "./ownership.ts";
