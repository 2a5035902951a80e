import { type Backend, type Instant, MAX_COUNTED_JOBS } from "@formbridge/core";
import { createDeadlines } from "./deadlines.ts";
import { createEventLog } from "./events.ts";
import { createHandoffs } from "./handoffs.ts";
import { createIdempotency } from "./idempotency.ts";
import { createBlocks, createIncidents } from "./incidents.ts";
import { createIntakes } from "./intakes.ts";
import { createJobs } from "./jobs.ts";
import { createKeys } from "./keys.ts";
import { createPublications } from "./publications.ts";
import { createRetention } from "./retention.ts";
import { createReviewLinks } from "./review-links.ts";
import { createSecretChecks } from "./secret-checks.ts";
import { sizesOf } from "./sizes.ts";
import { createStore } from "./store.ts";
import { createSubmissions } from "./submissions.ts";
import { createTables } from "./tables.ts";
import { createTokenIndex } from "./tokens.ts";
import { createWebhooks } from "./webhooks.ts";

/** All ports in this process's memory, for tests and trials. Queries with a filter scan everything. */
export function createMemoryBackend({ now }: { now: () => Instant }): Backend {
  const tables = createTables(now);
  return {
    store: createStore(tables),
    tokens: createTokenIndex(tables),
    idempotency: createIdempotency(tables),
    events: createEventLog(tables),
    jobs: createJobs(tables),
    deadlines: createDeadlines(tables),
    intakes: createIntakes(tables),
    keys: createKeys(tables),
    submissions: createSubmissions(tables),
    handoffs: createHandoffs(tables),
    webhooks: createWebhooks(tables),
    reviewLinks: createReviewLinks(tables),
    retention: createRetention(tables),
    publications: createPublications(tables),
    incidents: createIncidents(tables),
    blocks: createBlocks(tables),
    secretChecks: createSecretChecks(tables),
    sealedRows: { page: async () => [], replace: async () => false },
    sizes: async () => sizesOf(tables),
    isShared: false,
    jobsWaiting: async () => Math.min(tables.jobs.size, MAX_COUNTED_JOBS),
    connectionsInUse: () => 1,
    close: async () => {
      tables.closed = true;
    },
  };
}
