import { ContractError } from "../../domain/error.ts";
import type { Deps } from "../deps.ts";

/**
 * Gives up a lookup that takes too long, so that requests don't pile up behind it. A lookup changes nothing, so the
 * outcome is certain.
 */
export function inLookupTime<Result>({ settings, instrumentation }: Deps, lookup: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      instrumentation.record({ name: "lookup_timeout" });
      const words = "The token could not be looked up in time. Repeat the call.";
      reject(new ContractError("service_unavailable", words, { retryAfterMs: 1000 }));
    }, settings.tokenLookupMs);
    lookup.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
