import {
  describeDeadlines,
  describeDurability,
  describeEvents,
  describeHandoffs,
  describeIdempotency,
  describeIntakes,
  describeJobs,
  describeKeys,
  describeRateLimiter,
  describeStore,
  describeSubmissions,
  describeTokens,
  describeWakeups,
  type OpenBackend,
} from "@formbridge/conformance";
import { createLocalWakeups, createMemoryBackend, createMemoryRateLimiter } from "@formbridge/store-memory";

const open: OpenBackend = async (now) => ({
  backend: createMemoryBackend({ now }),
  whyNot: "memory ends with its process",
});

describeStore(open);
describeTokens(open);
describeHandoffs(open);
describeIdempotency(open);
describeEvents(open);
describeJobs(open);
describeDeadlines(open);
describeIntakes(open);
describeKeys(open);
describeSubmissions(open);
describeDurability(open);
describeRateLimiter((now) => createMemoryRateLimiter({ now }));
describeWakeups(createLocalWakeups);
