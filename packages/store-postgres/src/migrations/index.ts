import type { Migration } from "@formbridge/store-sql";
import { initial } from "./0001-initial.ts";

/** In order; the last one is the schema that this code reads and writes. */
export const MIGRATIONS: readonly Migration[] = [initial];
