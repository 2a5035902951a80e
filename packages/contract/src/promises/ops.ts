import type { ContractPromise } from "./promise.ts";

/** What operators get besides the server: alerts, objectives, dashboards and runbooks. */
export const OPS_PROMISES = [
  { id: "OPS-RULES", says: "Prometheus takes the alert and objective rules in `ops/prometheus` as they are." },
  { id: "OPS-ALERTS", says: "Every alert fires on its fault and not on its near miss, on metrics that are exported." },
  { id: "OPS-RUNBOOKS", says: "Every alert leads to a page that says what happened and what to do." },
  {
    id: "OPS-BOARDS",
    says: "The Grafana boards in `ops/grafana` are made from code, and every query in them is valid.",
  },
] as const satisfies readonly ContractPromise[];
