import type { Route } from "./route.ts";
import { byKeyRoutes } from "./routes/by-key.ts";
import { deliveryRoutes } from "./routes/deliveries.ts";
import { allHandoffsRoute, handoffRoutes, linkRoutes } from "./routes/handoffs.ts";
import { incidentRoutes } from "./routes/incidents.ts";
import { intakeRoutes } from "./routes/intakes.ts";
import { keyRoutes } from "./routes/keys.ts";
import { reviewRoutes } from "./routes/reviews.ts";
import { createRoute, submissionRoutes } from "./routes/submissions.ts";
import { signPartsRoute, uploadRoutes } from "./routes/uploads.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** Every endpoint, one row each. */
export const ROUTES: readonly Route[] = [
  createRoute,
  ...submissionRoutes("/submissions/:ref"),
  ...submissionRoutes("/resume/:ref"),
  ...uploadRoutes("/submissions/:ref"),
  ...uploadRoutes("/resume/:ref"),
  signPartsRoute,
  ...handoffRoutes("/submissions/:ref"),
  ...handoffRoutes("/resume/:ref"),
  allHandoffsRoute,
  ...linkRoutes,
  ...byKeyRoutes,
  ...deliveryRoutes,
  ...reviewRoutes,
  ...intakeRoutes,
  ...keyRoutes,
  ...webhookRoutes,
  ...incidentRoutes,
];
