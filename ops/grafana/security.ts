import { type Board, graph, stat } from "./panels.ts";

const refused = (reasons: string): string =>
  `sum(increase(formbridge_token_accessed_error_total{reason=~"${reasons}"}[$__range]))`;

/** What somebody who suspects misuse looks at. */
export const security: Board = {
  uid: "formbridge-security",
  title: "FormBridge: Security",
  about: "Tokens and keys that are used by somebody who should not have them.",
  rows: {
    "Refused tokens": [
      stat({
        title: "Lapsed tokens used",
        about: "Use of a token after its end: a bookmark, or a copy that somebody kept.",
        show: refused("ttl_elapsed|expired"),
      }),
      stat({
        title: "Revoked tokens used",
        about: "Use of a revoked token or link.",
        show: refused("admin_revoked|handoff_revoked"),
      }),
      stat({
        title: "Unknown tokens",
        about: "Tokens that were never issued: somebody may be guessing.",
        show: refused("unknown|malformed"),
      }),
      stat({
        title: "Rate limits hit",
        about: "Calls that a rate limit refused.",
        show: "sum(increase(formbridge_rate_limited_total[$__range]))",
      }),
    ],
    "Over time": [
      graph({
        title: "Refused tokens by reason",
        about: "A second.",
        show: { "{{reason}}": "sum by (reason) (rate(formbridge_token_accessed_error_total[$__rate_interval]))" },
      }),
      graph({
        title: "Rate limits by rule",
        about: "Refused calls a second.",
        show: { "{{rule}}": "sum by (rule) (rate(formbridge_rate_limited_total[$__rate_interval]))" },
      }),
      graph({
        title: "Idempotency conflicts",
        about:
          "payload_mismatch: an idempotency key with another request. key_collision: an idempotency key of another caller.",
        show: {
          "{{conflict_type}}": "sum by (conflict_type) (rate(formbridge_idempotency_conflict_total[$__rate_interval]))",
        },
      }),
      graph({
        title: "Creations",
        about: "Submissions created per second, by intake.",
        show: { "{{intake_id}}": "sum by (intake_id) (rate(formbridge_token_created_count_total[$__rate_interval]))" },
      }),
    ],
    History: [
      stat({
        title: "Audit notes lost",
        about: "Reads and refusals that could not be written to the history. Anything but 0 is wrong.",
        show: 'sum(increase(formbridge_audit_notes_total{outcome="lost"}[$__range]))',
      }),
    ],
  },
};
