import type { ContractPromise } from "./promise.ts";

export const OBSERVE_PROMISES: readonly ContractPromise[] = [
  {
    id: "AUDIT-F24",
    says: "The log tells of every request, of outages once each, of clean-up, clock skew and a store in memory.",
  },
  {
    id: "OBSERVE-METRICS",
    says: "Every metric of the reference is exported, by serve, worker, mcp and an embedded server.",
  },
  { id: "OBSERVE-SCRAPE-KEY", says: "Metrics are open to nobody until a setting gives them a port or a key." },
  { id: "OBSERVE-LABELS", says: "Intakes beyond the limit of label values are counted together as other." },
  {
    id: "OBSERVE-PUSH",
    says: "A collector that hangs or is down slows no request and does not keep the server from stopping.",
  },
  {
    id: "OBSERVE-TRACES",
    says: "With tracing on, the calls of a hand-off, its delivery and what callers trace themselves form one trace, without a secret or a value.",
  },
  { id: "OBSERVE-SETTINGS", says: "A setting of metrics, log or push that makes no sense stops the start, in words." },
  {
    id: "OBSERVE-LOG-LINE",
    says: "Every request is one line at info: operation, intake, submission, version, token hash, caller, time, outcome, request id.",
  },
  {
    id: "OBSERVE-LOG-EVENTS",
    says: "Replays, executions, conflicts, contention, time-outs and expiries of idempotency keys are lines of their own, by name.",
  },
  {
    id: "OBSERVE-LOG-FORGERY",
    says: "What a caller sends can't begin a log line of its own or move a terminal's cursor.",
  },
  {
    id: "OBSERVE-LOG-OUTAGE",
    says: "A store or Redis that goes down is one line, and one when it is back; not one a request.",
  },
];
