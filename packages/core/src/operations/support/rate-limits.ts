import { ContractError } from "../../domain/error.ts";
import type { RateRule, RateVerdict } from "../../ports/rate-limiter.ts";
import type { Caller, Principal } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { networkOf } from "./network-of.ts";

function refuseOver(verdict: RateVerdict): void {
  if (verdict.allowed) return;
  throw new ContractError(
    "rate_limited",
    `Too many calls: ${verdict.rule.limit} in ${verdict.rule.windowMs / 1000} s.`,
    {
      retryAfterMs: Math.max(1, verdict.resetMs),
    },
  );
}

/** Counts a create, by key where there is one, by address otherwise. */
export async function countCreate(
  deps: Deps,
  caller: Caller,
  principal: Principal | undefined,
): Promise<RateVerdict | undefined> {
  const rules = deps.settings.rateLimits;
  if (rules === false) return undefined;
  const verdict =
    principal === undefined
      ? await deps.rateLimiter.hit(rules.createsPerAddress, networkOf(caller.address))
      : await deps.rateLimiter.hit(rules.createsPerKey, principal.keyId);
  refuseOver(verdict);
  return verdict;
}

/** Guessing tokens must not pay: whoever failed too often waits, before the next look-up. */
export async function refuseGuesser(deps: Deps, caller: Caller): Promise<void> {
  for (const rule of lookupRules(deps)) refuseOver(await deps.rateLimiter.peek(rule, networkOf(caller.address)));
}

export async function countFailedLookup(deps: Deps, caller: Caller): Promise<void> {
  for (const rule of lookupRules(deps)) await deps.rateLimiter.hit(rule, networkOf(caller.address));
}

/** A code is short: whoever tries many waits, whichever submission they are for. */
export async function countCodeAttempt(deps: Deps, caller: Caller): Promise<void> {
  const rules = deps.settings.rateLimits;
  if (rules !== false) refuseOver(await deps.rateLimiter.hit(rules.codeAttempts, networkOf(caller.address)));
}

/** Anybody with a token may have mail sent to anybody: not much of it. */
export async function countMail(deps: Deps, caller: Caller): Promise<void> {
  const rules = deps.settings.rateLimits;
  if (rules !== false) refuseOver(await deps.rateLimiter.hit(rules.mails, networkOf(caller.address)));
}

function lookupRules(deps: Deps): RateRule[] {
  const rules = deps.settings.rateLimits;
  return rules === false ? [] : [rules.failedLookupsPerSecond, rules.failedLookupsPerMinute];
}
