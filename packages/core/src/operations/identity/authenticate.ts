import type { Proof, Role } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import { sha256 } from "../../domain/hashing.ts";
import { AuthenticatorDown } from "../../ports/authenticator.ts";
import type { Caller, Principal } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { withProof } from "./actors.ts";

/**
 * The principal of the caller's credential. Undefined without one; an invalid one is a 401, whatever is wrong with it.
 */
export async function authenticate(deps: Deps, caller: Caller): Promise<Principal | undefined> {
  if (caller.apiKey === undefined) return undefined;
  const known = await principalOf(deps, caller.apiKey);
  if (known === undefined) throw new ContractError("unauthorized", "The API key or access token is invalid.");
  return known;
}

const provenBy = (proof: Proof, principal: Principal | undefined): Principal | undefined =>
  principal && { ...principal, actor: withProof(principal.actor, proof) };

async function principalOf({ authenticator, backend }: Deps, credential: string): Promise<Principal | undefined> {
  if (authenticator?.recognizes(credential) !== true)
    return provenBy("key", await backend.keys.find(sha256(credential)));
  try {
    return provenBy("oidc", await authenticator.identify(credential));
  } catch (cause) {
    if (!(cause instanceof AuthenticatorDown)) throw cause;
    const { retryAfterMs } = cause;
    throw new ContractError("service_unavailable", "Access tokens can't be checked right now. Try again later.", {
      retryAfterMs,
      cause,
    });
  }
}

/** For operations that require an API key; if roles are named, one that has any of them. */
export async function requirePrincipal(deps: Deps, caller: Caller, ...roles: Role[]): Promise<Principal> {
  const principal = await authenticate(deps, caller);
  if (principal === undefined) throw new ContractError("unauthorized", "This needs an API key.");
  if (roles.length > 0) requireRole(principal, ...roles);
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

/** An API key limited to some intakes can only manage keys and webhooks that are limited to these. */
export const reachesAll = (principal: Principal, intakes: readonly string[] | undefined): boolean =>
  principal.intakes === undefined || (intakes?.every((id) => reachesIntake(principal, id)) ?? false);

/** The intakes of a list: the one asked for, if the API key has access to it, else all that it has access to. */
export const intakesFor = (principal: Principal, intakeId: string | undefined): readonly string[] | undefined =>
  intakeId === undefined ? principal.intakes : [intakeId].filter((id) => reachesIntake(principal, id));
