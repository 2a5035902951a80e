import type {
  CreateKeyRequest,
  CreateKeyResponse,
  ListKeysQuery,
  ListKeysResponse,
  RevokeKeyResponse,
} from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { sha256 } from "../domain/hashing.ts";
import { toIso } from "../domain/instant.ts";
import type { ApiKey } from "../ports/keys.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { normalize } from "./identity/actors.ts";
import { reachesAll, requirePrincipal } from "./identity/authenticate.ts";
import { endPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";

const LIST = "keys";
export const DEFAULT_TENANT = "default";

export async function createKey(
  context: Context,
  call: { caller: Caller; request: CreateKeyRequest },
): Promise<OperationResponse<CreateKeyResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller, "admin");
  const tenant = call.request.tenant ?? principal.tenant;
  // The operator's tenant creates tenants; other admins stay within their own, and a limited API key can't create a
  // wider one.
  if (tenant !== principal.tenant && principal.tenant !== DEFAULT_TENANT) {
    throw new ContractError("forbidden", "This key may only create keys for its own tenant.");
  }
  if (!reachesAll(principal, call.request.intakes)) {
    throw new ContractError("forbidden", "This key may only create keys for its own intakes.");
  }
  return { body: { ok: true, ...(await issueKey(context, call.request, tenant)) }, created: true };
}

/** Adds an API key and returns it, this once. */
export async function issueKey(
  { deps }: Context,
  request: CreateKeyRequest,
  tenant: string,
): Promise<{ keyId: string; key: string }> {
  const key = deps.random.apiKey();
  const { name, roles, intakes, actsFor, expiresAt } = request;
  const keyId = deps.random.newId("key");
  const now = await deps.backend.deadlines.now();
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) {
    throw new ContractError("bad_request", "expiresAt is in the past, so the key could never be used.");
  }
  const created: ApiKey = {
    keyId,
    hash: sha256(key),
    tenant,
    name,
    roles: [...roles],
    actor: normalize(request.actor),
    createdAt: now,
    ...(intakes && { intakes: [...intakes] }),
    ...(actsFor && { actsFor: [...actsFor] }),
    ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }),
  };
  await deps.backend.keys.add(created);
  return { keyId, key };
}

export async function listKeys(
  context: Context,
  call: { caller: Caller; query: ListKeysQuery },
): Promise<OperationResponse<ListKeysResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller, "admin");
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { after, limit } = page;
  const rows = await deps.backend.keys.list(
    { tenant: principal.tenant, ...(after !== undefined && { after }) },
    limit + 1,
  );
  const last = rows.length > limit ? rows[limit - 1]?.keyId : undefined;
  const items = rows
    .slice(0, limit)
    .filter((key) => reachesAll(principal, key.intakes))
    .map(keyView);
  // A caller who sees only some of them gets no total.
  const count =
    principal.intakes === undefined
      ? (atMost: number) => deps.backend.keys.count({ tenant: principal.tenant }, atMost)
      : undefined;
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: last, shown: items.length, count })) } };
}

export const keyView = (key: ApiKey): ListKeysResponse["items"][number] => ({
  keyId: key.keyId,
  tenant: key.tenant,
  name: key.name,
  roles: key.roles,
  actor: key.actor,
  createdAt: toIso(key.createdAt),
  ...(key.intakes && { intakes: key.intakes }),
  ...(key.actsFor && { actsFor: key.actsFor }),
  ...(key.expiresAt !== undefined && { expiresAt: toIso(key.expiresAt) }),
});

export async function revokeKey(
  context: Context,
  call: { caller: Caller; keyId: string },
): Promise<OperationResponse<RevokeKeyResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller, "admin");
  const { keys } = context.deps.backend;
  const { tenant } = principal;
  const known = principal.intakes === undefined ? undefined : await keys.get({ tenant, keyId: call.keyId });
  const isMine = principal.intakes === undefined || (known !== undefined && reachesAll(principal, known.intakes));
  if (!isMine || !(await keys.revoke({ tenant, keyId: call.keyId })))
    throw new ContractError("not_found", "This key doesn't exist.");
  return { body: { ok: true, keyId: call.keyId, revoked: true } };
}
