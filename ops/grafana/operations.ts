import { type Board, graph, stat } from "./panels.ts";

const expired = (reason: string): string =>
  `sum(increase(formbridge_token_expired_count_total{reason="${reason}"}[$__range]))`;
const quantile = (share: number, histogram: string): string =>
  `histogram_quantile(${share}, sum by (le) (rate(${histogram}_bucket[$__rate_interval])))`;
const handoffs = (direction: string): string =>
  `sum(increase(formbridge_token_handoff_count_total{direction="${direction}"}[$__range]))`;

/** What the person on call looks at first. */
export const operations: Board = {
  uid: "formbridge-operations",
  title: "FormBridge: Operations",
  about: "Is it up, is it fast, and does the work get through?",
  rows: {
    "Token lifecycle": [
      stat({
        title: "Created",
        about: "Submissions created, and tokens reissued, in the chosen time.",
        show: "sum(increase(formbridge_token_created_count_total[$__range]))",
      }),
      stat({
        title: "Stored tokens",
        about: "Current and rotated ones; the next clean-up removes those that have lapsed.",
        show: "max(formbridge_token_store_size)",
      }),
      stat({ title: "Expired by TTL", about: "Nobody used them in time.", show: expired("ttl") }),
      stat({ title: "Ended with their submission", about: "The usual end.", show: expired("terminal_state") }),
    ],
    Performance: [
      graph({
        title: "Validation of a token",
        about: "Look-up and expiry check. The objective is 500 ms at p99.",
        unit: "s",
        show: {
          p50: quantile(0.5, "formbridge_token_accessed_duration_seconds"),
          p99: quantile(0.99, "formbridge_token_accessed_duration_seconds"),
        },
      }),
      graph({
        title: "Commits",
        about: "Time until a write is durable.",
        unit: "s",
        show: {
          p50: quantile(0.5, "formbridge_token_store_set_duration_seconds"),
          p99: quantile(0.99, "formbridge_token_store_set_duration_seconds"),
        },
      }),
      graph({
        title: "Requests",
        about: "HTTP requests per second, by the first digit of their status.",
        show: {
          "2xx": 'sum(rate(formbridge_http_request_duration_seconds_count{status=~"2.."}[$__rate_interval]))',
          "4xx": 'sum(rate(formbridge_http_request_duration_seconds_count{status=~"4.."}[$__rate_interval]))',
          "5xx": 'sum(rate(formbridge_http_request_duration_seconds_count{status=~"5.."}[$__rate_interval]))',
        },
      }),
      stat({
        title: "Storage uptime",
        about: "The share of health checks that the store responded to.",
        unit: "percentunit",
        show: "avg by (backend) (avg_over_time(formbridge_store_up[$__range]))",
      }),
    ],
    Conflicts: [
      stat({
        title: "Conflicts",
        about: "Calls with a token or version that a later write has replaced.",
        show: "sum(increase(formbridge_token_conflict_count_total[$__range]))",
      }),
      stat({
        title: "Conflict rate",
        about: "As a share of writes. The objective is below 5 %.",
        unit: "percentunit",
        show: 'sum(increase(formbridge_token_conflict_count_total[$__range])) / sum(increase(formbridge_token_accessed_count_total{operation="patch"}[$__range]))',
      }),
    ],
    "Hand-offs": [
      stat({
        title: "Agent to human",
        about: "Submissions that passed from an agent to a person.",
        show: handoffs("agent_to_human"),
      }),
      stat({
        title: "Human to agent",
        about: "Submissions that passed from a person back to an agent.",
        show: handoffs("human_to_agent"),
      }),
      stat({
        title: "Time of a hand-off",
        about: "From the last write of one side to the first action of the other, on average.",
        unit: "s",
        show: "sum(increase(formbridge_token_handoff_duration_seconds_sum[$__range])) / sum(increase(formbridge_token_handoff_duration_seconds_count[$__range]))",
      }),
    ],
    "Delivery and jobs": [
      graph({
        title: "Delivery attempts",
        about: "Attempts per second, by outcome.",
        show: { "{{outcome}}": "sum by (outcome) (rate(formbridge_delivery_attempts_total[$__rate_interval]))" },
      }),
      graph({
        title: "Jobs",
        about: "How long a due job waits for a worker (p99).",
        unit: "s",
        show: { lag: quantile(0.99, "formbridge_jobs_lag_seconds") },
      }),
    ],
  },
};
