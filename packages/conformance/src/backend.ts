import { describeAtomicity } from "./atomicity.ts";
import { describeDeadlines } from "./deadlines.ts";
import { describeDurability } from "./durability.ts";
import { describeEvents } from "./events.ts";
import { describeHandoffs } from "./handoffs.ts";
import type { OpenBackend } from "./harness.ts";
import { describeIdempotency } from "./idempotency.ts";
import { describeIncidents } from "./incidents.ts";
import { describeIntakes } from "./intakes.ts";
import { describeJobs } from "./jobs.ts";
import { describeKeys } from "./keys.ts";
import { describePublications } from "./publications.ts";
import { describeRetention } from "./retention.ts";
import { describeReviewLinks } from "./review-links.ts";
import { describeSecretChecks } from "./secret-checks.ts";
import { describeSizes } from "./sizes.ts";
import { describeStore } from "./store.ts";
import { describeSubmissions } from "./submissions.ts";
import { describeTokens } from "./tokens.ts";
import { describeWebhooks } from "./webhooks.ts";

/** Every suite that a whole backend must pass: adding a port here requires it of every store. */
export function describeBackend(open: OpenBackend): void {
  describeStore(open);
  describeTokens(open);
  describeHandoffs(open);
  describeReviewLinks(open);
  describeIdempotency(open);
  describeEvents(open);
  describeJobs(open);
  describeDeadlines(open);
  describeRetention(open);
  describePublications(open);
  describeIntakes(open);
  describeKeys(open);
  describeSubmissions(open);
  describeWebhooks(open);
  describeIncidents(open);
  describeSecretChecks(open);
  describeSizes(open);
  describeDurability(open);
  describeAtomicity(open);
}
