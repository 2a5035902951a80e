import type { Role } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import { sha256 } from "../../domain/hashing.ts";
import { AuthenticatorDown } from "../../ports/authenticator.ts";
import type { Caller, Principal } from "../caller.ts";
import type { Deps } from "../deps.ts";

/** Who presents the caller's credential. None is no principal; one that is not good is a 401, whatever is wrong with it. */
export async function authenticate(deps: Deps, caller: Caller): Promise<Principal | undefined> {
  if (caller.apiKey === undefined) return undefined;
  const known = await principalOf(deps, caller.apiKey);
  if (known === undefined) throw new ContractError("unauthorized", "The API key or access token is not valid.");
  return known;
}

async function principalOf({ authenticator, backend }: Deps, credential: string): Promise<Principal | undefined> {
  if (authenticator?.recognizes(credential) !== true) return await backend.keys.find(sha256(credential));
  try {
    return await authenticator.identify(credential);
  } catch (cause) {
    if (!(cause instanceof AuthenticatorDown)) throw cause;
    const { retryAfterMs } = cause;
    throw new ContractError("service_unavailable", "Access tokens can't be checked now.", { retryAfterMs, cause });
  }
}

/** For what only a key opens. */
export async function requirePrincipal(deps: Deps, caller: Caller): Promise<Principal> {
  const principal = await authenticate(deps, caller);
  if (principal === undefined)
    throw new ContractError("unauthorized", "This needs an API key: Authorization: Bearer fbk_…");
  return principal;
}

export const hasRole = (principal: Principal, ...roles: Role[]): boolean =>
  roles.some((role) => principal.roles.includes(role));

export function requireRole(principal: Principal, ...roles: Role[]): void {
  if (!hasRole(principal, ...roles)) {
    throw new ContractError("forbidden", `This needs the role ${roles.join(" or ")}.`);
  }
}

export const reachesIntake = (principal: Principal, intakeId: string): boolean =>
  principal.intakes === undefined || principal.intakes.includes(intakeId);
