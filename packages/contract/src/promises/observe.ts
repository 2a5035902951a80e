import type { ContractPromise } from "./promise.ts";

export const OBSERVE_PROMISES: readonly ContractPromise[] = [
  {
    id: "AUDIT-F24",
    says: "The log has a line for every request, and reports each outage once, clean-up, clock skew and a store in memory.",
  },
  {
    id: "OBSERVE-METRICS",
    says: "Every metric of the reference is exported, by serve, worker, mcp and an embedded server.",
  },
  {
    id: "OBSERVE-LOOKUP-TIME",
    says: "A token look-up that takes longer than a second, or as set, is given up with a retryable 503 and counted.",
  },
  { id: "OBSERVE-SCRAPE-KEY", says: "Metrics are not accessible until a setting gives them a port or a key." },
  { id: "OBSERVE-LABELS", says: "Intakes beyond the limit of label values are counted together as other." },
  {
    id: "OBSERVE-PUSH",
    says: "A collector that hangs or is down slows down no request and does not keep the server from stopping.",
  },
  {
    id: "OBSERVE-TRACES",
    says: "With tracing on, the calls of a hand-off, its delivery and what callers trace themselves form one trace, without a secret or a value.",
  },
  { id: "OBSERVE-SETTINGS", says: "An invalid setting for metrics, logs or push stops the start with an explanation." },
  {
    id: "OBSERVE-LOG-LINE",
    says: "Every request is one line at info: operation, intake, submission, version, token hash, caller, time, outcome, request id.",
  },
  {
    id: "OBSERVE-LOG-EVENTS",
    says: "Replays, executions, conflicts, contention, timeouts and expiries of idempotency keys have log lines of their own, by name.",
  },
  {
    id: "OBSERVE-LOG-FORGERY",
    says: "What a caller sends can't start a new log line or move a terminal's cursor.",
  },
  {
    id: "OBSERVE-LOG-OUTAGE",
    says: "When a store or Redis goes down, there is one line, and another one when it is back; not one per request.",
  },
];
