import { initial } from "./0001-initial.ts";
import type { Migration } from "./migration.ts";

/** In order; the last one is the schema that this code reads and writes. */
export const MIGRATIONS: readonly Migration[] = [initial];
