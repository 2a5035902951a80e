import { ROLES, type Role } from "@formbridge/contract";
import { type Principal, sha256 } from "@formbridge/core";
import type { JWTPayload } from "jose";
import { claimOf, textClaim, wordsClaim } from "./claims.ts";
import { actorPrefix, type Issuer } from "./issuer.ts";

/** The principal of a verified token, or why there is none. */
export type Reading = { principal: Principal } | { refused: string };

const MAX_ID = 200;
const TENANT = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** No claim may name `reservedTenant` unless the settings allow it explicitly. */
export function readPrincipal(
  payload: JWTPayload,
  issuer: Issuer,
  { reservedTenant }: { reservedTenant: string },
): Reading {
  const subject = textClaim(payload, "sub", { maxLength: 2000 });
  if (subject === undefined) return { refused: "no subject" };
  const tenant = tenantOf(payload, issuer, reservedTenant);
  if (tenant === undefined) return { refused: "no tenant" };
  const roles = rolesOf(payload, issuer);
  if (roles.length === 0) return { refused: "no role" };
  const actor = actorOf(payload, issuer);
  if (actor === undefined) return { refused: "no actor" };
  const intakes = intakesOf(payload, issuer);
  const keyId = `jwt_${sha256(JSON.stringify([issuer.issuer, subject])).slice(0, 32)}`;
  return { principal: { keyId, tenant, roles, actor, ...(intakes && { intakes }) } };
}

function tenantOf(payload: JWTPayload, { tenant }: Issuer, reserved: string): string | undefined {
  if (typeof tenant === "string") return tenant;
  const claimed = claimOf(payload, tenant.claim);
  if (typeof claimed !== "string" || !TENANT.test(claimed)) return undefined;
  const isAllowed = tenant.allowed === undefined ? claimed !== reserved : tenant.allowed.includes(claimed);
  return isAllowed ? claimed : undefined;
}

function rolesOf(payload: JWTPayload, { roles }: Issuer): Role[] {
  if (Array.isArray(roles)) return roles;
  const map = new Map<string, Role>(
    roles.map === undefined ? ROLES.map((role) => [role, role]) : Object.entries(roles.map),
  );
  const claimed = new Set(wordsClaim(payload, roles.claim).map((word) => map.get(word)));
  return roles.allowed.filter((role) => claimed.has(role));
}

/** A token without the configured claim gets no intakes, rather than all of them. */
function intakesOf(payload: JWTPayload, { intakes }: Issuer): string[] | undefined {
  if (intakes === undefined || Array.isArray(intakes)) return intakes;
  return wordsClaim(payload, intakes.claim);
}

function actorOf(payload: JWTPayload, issuer: Issuer): Principal["actor"] | undefined {
  const { claim = "sub", kind: given, name: nameClaim, email: emailClaim } = issuer.actor;
  const prefix = actorPrefix(issuer);
  const id = textClaim(payload, claim, { maxLength: MAX_ID - prefix.length });
  const kind = typeof given === "string" ? given : kindFrom(payload, given);
  if (id === undefined || kind === undefined) return undefined;
  const name = nameClaim === undefined ? undefined : textClaim(payload, nameClaim, { maxLength: 200 });
  // Gates name reviewers by e-mail address, and an unverified one proves nothing.
  const email =
    emailClaim === undefined || payload.email_verified !== true
      ? undefined
      : textClaim(payload, emailClaim, { maxLength: 254 });
  return {
    kind,
    id: prefix + id,
    ...(name !== undefined && { name }),
    ...(email !== undefined && { metadata: { email } }),
  };
}

type Kind = "agent" | "human";

function kindFrom(
  payload: JWTPayload,
  { claim, map, otherwise }: { claim: string; map: Record<string, Kind>; otherwise?: Kind },
): Kind | undefined {
  const known = new Map(Object.entries(map));
  const told = wordsClaim(payload, claim).map((word) => known.get(word));
  return told.find((kind) => kind !== undefined) ?? otherwise;
}
