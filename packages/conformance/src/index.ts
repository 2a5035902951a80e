export { describeAlarmWindows } from "./alarm-windows.ts";
export { describeAtomicity } from "./atomicity.ts";
export { describeAuthenticator, type OpenAuthenticator } from "./authenticator.ts";
export { describeBackend } from "./backend.ts";
export { describeCourier, type OpenCourier, type OpenedCourier, type Received } from "./courier.ts";
export { describeDurability } from "./durability.ts";
export * as fixtures from "./fixtures.ts";
export {
  type Clock,
  createClock,
  type Durability,
  type OpenBackend,
  type OpenedBackend,
  type Part,
} from "./harness.ts";
export { describeIdempotency } from "./idempotency.ts";
export { describeRateLimiter } from "./rate-limiter.ts";
export { describeRetention } from "./retention.ts";
export { describeStore } from "./store.ts";
export { describeTokens } from "./tokens.ts";
export {
  bytesOf,
  describeUploadStorage,
  newFile,
  type OpenedStorage,
} from "./upload-storage.ts";
export { describeWakeups } from "./wakeups.ts";
