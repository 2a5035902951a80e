export { createMemoryBackend } from "./backend.ts";
export { createMemoryRateLimiter } from "./rate-limiter.ts";
export { createLocalWakeups } from "./wakeups.ts";
