export { openPostgresBackend } from "./backend.ts";
export { openCopyTarget, refuseUnfinishedCopy } from "./copy-target.ts";
export type { PostgresOptions } from "./database.ts";
export { migrate } from "./migrate.ts";
export { createPostgresWakeups, type SharedWakeups } from "./wakeups.ts";
