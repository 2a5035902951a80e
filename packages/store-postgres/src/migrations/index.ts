import { tables } from "./0001-tables.ts";
import { clock } from "./0002-clock.ts";
import { load } from "./0003-load.ts";
import { commit } from "./0004-commit.ts";
import { feed } from "./0005-feed.ts";
import { intakes } from "./0006-intakes.ts";
import { copies } from "./0007-copies.ts";
import { reviewLinks } from "./0008-review-links.ts";
import { webhooks } from "./0009-webhooks.ts";
import { retention } from "./0010-retention.ts";
import { readCache } from "./0011-read-cache.ts";
import type { Migration } from "./migration.ts";

/** In order; the last one is the schema that this code reads and writes. */
export const MIGRATIONS: readonly Migration[] = [
  tables,
  clock,
  load,
  commit,
  feed,
  intakes,
  copies,
  reviewLinks,
  webhooks,
  retention,
  readCache,
];
