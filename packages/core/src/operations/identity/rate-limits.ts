import { ContractError } from "../../domain/error.ts";
import type { RateRule, RateVerdict } from "../../ports/rate-limiter.ts";
import type { Caller, Principal } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { networkOf } from "./network-of.ts";

function refuseOver({ instrumentation }: Deps, verdict: RateVerdict): void {
  if (verdict.allowed) return;
  instrumentation.record({ name: "rate_limited", rule: verdict.rule.name });
  throw new ContractError(
    "rate_limited",
    `Too many calls: at most ${verdict.rule.limit} in ${verdict.rule.windowMs / 1000} s. Wait before the next one.`,
    {
      retryAfterMs: Math.max(1, verdict.resetMs),
    },
  );
}

/** Counts a create by API key, or by address without one. */
export async function countCreate(
  deps: Deps,
  caller: Caller,
  principal: Principal | undefined,
): Promise<RateVerdict | undefined> {
  const limit = createLimit(deps, caller, principal);
  if (limit === undefined) return undefined;
  const verdict = await deps.rateLimiter.hit(limit.rule, limit.subject);
  refuseOver(deps, verdict);
  return verdict;
}

/** The state of the create limit, for a response that created nothing. */
export async function peekCreates(
  deps: Deps,
  caller: Caller,
  principal: Principal | undefined,
): Promise<RateVerdict | undefined> {
  const limit = createLimit(deps, caller, principal);
  return limit && (await deps.rateLimiter.peek(limit.rule, limit.subject));
}

function createLimit(
  { settings }: Deps,
  caller: Caller,
  principal: Principal | undefined,
): { rule: RateRule; subject: string } | undefined {
  const rules = settings.rateLimits;
  if (rules === false) return undefined;
  return principal === undefined
    ? { rule: rules.createsPerAddress, subject: networkOf(caller.address) }
    : { rule: rules.createsPerKey, subject: principal.keyId };
}

/** Makes guessing tokens impractical: a caller who failed too often has to wait before the next lookup. */
export async function refuseGuesser(deps: Deps, caller: Caller): Promise<void> {
  for (const rule of lookupRules(deps)) refuseOver(deps, await deps.rateLimiter.peek(rule, networkOf(caller.address)));
}

/**
 * Counts a failed lookup. Concurrent lookups, as in a batch, have all passed `refuseGuesser` by then; those over the
 * limit are refused here and learn nothing.
 */
export async function countFailedLookup(deps: Deps, caller: Caller): Promise<void> {
  const verdicts: RateVerdict[] = [];
  for (const rule of lookupRules(deps)) verdicts.push(await deps.rateLimiter.hit(rule, networkOf(caller.address)));
  for (const verdict of verdicts) refuseOver(deps, verdict);
}

/** A code is short, so limit attempts across all submissions. */
export async function countCodeAttempt(deps: Deps, caller: Caller): Promise<void> {
  const rules = deps.settings.rateLimits;
  if (rules !== false) refuseOver(deps, await deps.rateLimiter.hit(rules.codeAttempts, networkOf(caller.address)));
}

/** Anyone with a token can have mail sent to anyone, so limit it. */
export async function countMail(deps: Deps, caller: Caller): Promise<void> {
  const rules = deps.settings.rateLimits;
  if (rules !== false) refuseOver(deps, await deps.rateLimiter.hit(rules.mails, networkOf(caller.address)));
}

function lookupRules(deps: Deps): RateRule[] {
  const rules = deps.settings.rateLimits;
  return rules === false ? [] : [rules.failedLookupsPerSecond, rules.failedLookupsPerMinute];
}
