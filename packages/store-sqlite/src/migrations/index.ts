import { initial } from "./0001-initial.ts";
import { handoffs } from "./0002-handoffs.ts";
import { jobLanes } from "./0003-job-lanes.ts";
import { reviewLinks } from "./0004-review-links.ts";
import { webhooks } from "./0005-webhooks.ts";
import { retention } from "./0006-retention.ts";
import { oneRowACommit } from "./0007-one-row-a-commit.ts";
import type { Migration } from "./migration.ts";

/** In order; the last one is the schema that this code reads and writes. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  handoffs,
  jobLanes,
  reviewLinks,
  webhooks,
  retention,
  oneRowACommit,
];
