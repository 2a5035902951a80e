import type { PlantedBug } from "../planted-bug.ts";
import { CORE } from "./core.ts";
import { MEMORY } from "./memory.ts";
import { POSTGRES } from "./postgres.ts";
import { REDIS } from "./redis.ts";
import { SQLITE } from "./sqlite.ts";

export const BUGS: readonly PlantedBug[] = [...CORE, ...MEMORY, ...SQLITE, ...POSTGRES, ...REDIS];
