import { ALARMS, type AlarmKind, type AlarmPolicies, type AlarmResponse } from "@formbridge/contract";

/** Trips on more than `threshold` within `windowMs`. What counts depends on the alarm. */
export interface AlarmRule {
  threshold: number;
  windowMs: number;
  responses: readonly AlarmResponse[];
}

/** An absent alarm is off. */
export type AlarmRules = { [Kind in AlarmKind]?: AlarmRule };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const rule = (threshold: number, windowMs: number): AlarmRule => ({ threshold, windowMs, responses: [] });

/**
 * By default an alarm only records and notifies: a response that hits the wrong person costs more than a late one.
 * `dormant_token` and `agent_after_handoff` only use `windowMs`; `country_changed` needs a source of countries.
 */
export const DEFAULT_ALARMS: Required<AlarmRules> = {
  token_shared: rule(3, 5 * MINUTE),
  token_enumeration: rule(100, MINUTE),
  failed_lookups: rule(50, 5 * MINUTE),
  expired_token_reused: rule(5, HOUR),
  expired_tokens_probed: rule(5, HOUR),
  submission_conflicts: rule(10, HOUR),
  dormant_token: rule(0, 14 * DAY),
  country_changed: rule(0, DAY),
  agent_after_handoff: rule(0, MINUTE),
};

/** Limits for `windowMs` of `dormant_token` and `agent_after_handoff`: no signals are collected beyond them. */
export const MIN_DORMANT_MS = HOUR;
export const MAX_AFTER_HANDOFF_MS = HOUR;

/** The server's rule with what the intake changes; undefined if it is off. */
export function ruleFor(
  kind: AlarmKind,
  rules: AlarmRules,
  policies: AlarmPolicies | undefined,
): AlarmRule | undefined {
  const own = kind in (policies ?? {}) ? policies?.[kind as keyof AlarmPolicies] : undefined;
  const base = rules[kind];
  if (own === false) return undefined;
  if (own === undefined) return base;
  const { threshold, windowMs, responses } = own;
  const { threshold: t, windowMs: w, responses: r } = base ?? DEFAULT_ALARMS[kind];
  return { threshold: threshold ?? t, windowMs: windowMs ?? w, responses: responses ?? r };
}

/** Alarms that measure a time instead of counting. */
const TIMED = new Set<AlarmKind>(["dormant_token", "country_changed", "agent_after_handoff"]);
export const isTimed = (kind: AlarmKind): boolean => TIMED.has(kind);

/** What an alarm needs more than one of: with 0, every call would raise it. */
const PLURAL: Partial<Record<AlarmKind, string>> = {
  token_shared: "more than one address: every token is used from one",
  token_enumeration: "more than one submission: every address uses the token of one",
  expired_tokens_probed: "more than one token: everybody may open an expired link",
};

/** What an invalid threshold or time would have to be; undefined if both are valid. */
export function ruleProblem(kind: AlarmKind, { threshold, windowMs }: AlarmRule): string | undefined {
  if (kind === "dormant_token" && windowMs < MIN_DORMANT_MS) return "a dormant time of at least an hour";
  if (kind === "agent_after_handoff" && windowMs > MAX_AFTER_HANDOFF_MS) return "a time of at most an hour";
  if (windowMs < SECOND || windowMs > 365 * DAY) return "a time between a second and a year";
  if (isTimed(kind)) return threshold > 0 ? "a time only: it has no count" : undefined;
  if (threshold > 10_000) return "a count of at most 10000";
  return threshold < 1 ? PLURAL[kind] : undefined;
}

/** What invalid responses would have to be; undefined if they are valid. */
export function responsesProblem(kind: AlarmKind, responses: readonly AlarmResponse[]): string | undefined {
  if (new Set(responses).size < responses.length) return "each response once";
  if (responses.includes("revoke") && responses.includes("reissue")) return "either revoke or reissue, not both";
  const isAddress = ALARMS[kind].about === "address";
  const other = isAddress ? responses.find((response) => response !== "block") : undefined;
  return other && `block only, not ${other}: the alarm is about an address, not about a submission`;
}
