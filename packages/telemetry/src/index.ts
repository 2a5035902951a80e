export type { AnsweredRequest } from "./log/fields.ts";
export type { LogOptions } from "./log/record-measure.ts";
export {
  BUSINESS_METRICS,
  IDEMPOTENCY_METRICS,
  LIMITED_LABELS,
  METRICS,
  type MetricName,
  type MetricSpec,
  SERVICE_METRICS,
  STORE_METRICS,
  TOKEN_METRICS,
} from "./metrics/catalog.ts";
export { createTelemetry, type Role, type Telemetry, type TelemetryOptions, type ToolCall } from "./telemetry.ts";
