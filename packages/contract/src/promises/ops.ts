import type { ContractPromise } from "./promise.ts";

/** What operators get besides the server: alerts, objectives, dashboards and runbooks. */
export const OPS_PROMISES = [
  { id: "OPS-RULES", says: "Prometheus accepts the alert and objective rules in `ops/prometheus` as they are." },
  {
    id: "OPS-ALERTS",
    says: "Every alert fires on its fault and not on similar harmless metrics, and uses only metrics that are exported.",
  },
  { id: "OPS-RUNBOOKS", says: "Every alert links to a page that says what happened and what to do." },
  {
    id: "OPS-BOARDS",
    says: "The Grafana dashboards in `ops/grafana` are generated, and every query in them is valid.",
  },
] as const satisfies readonly ContractPromise[];
