export { createMemoryAlarmWindows } from "./alarm-windows.ts";
export { createMemoryBackend } from "./backend.ts";
export { createMemoryRateLimiter } from "./rate-limiter.ts";
export { createLocalWakeups } from "./wakeups.ts";
