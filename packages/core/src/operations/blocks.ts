import { isIP } from "node:net";
import type {
  CreateBlockRequest,
  CreateBlockResponse,
  ListBlocksResponse,
  RemoveBlockResponse,
} from "@formbridge/contract";
import { type Block, blockView } from "../domain/alarms/incident.ts";
import { ContractError } from "../domain/error.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import { requirePrincipal } from "./identity/authenticate.ts";
import { networkOf } from "./identity/network-of.ts";
import { endPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";

const LIST = "blocks";
const MAX_BLOCK_MS = 31_536_000_000;

/** A block concerns all intakes of a tenant, so a key limited to some can't handle it. */
async function requireOperator({ deps }: Context, caller: Caller): Promise<Principal> {
  const principal = await requirePrincipal(deps, caller, "admin");
  if (principal.intakes === undefined) return principal;
  throw new ContractError("forbidden", "Blocks concern all intakes, and this key is limited to some.");
}

export async function createBlock(
  context: Context,
  call: { caller: Caller; request: CreateBlockRequest },
): Promise<OperationResponse<CreateBlockResponse>> {
  const { deps, watch } = context;
  const principal = await requireOperator(context, call.caller);
  const { address, endsAt: end, reason } = call.request;
  if (isIP(address) === 0) throw new ContractError("bad_request", "address must be an IPv4 or IPv6 address.");
  const [createdAt, endsAt] = [await deps.backend.deadlines.now(), Date.parse(end)];
  if (!(endsAt > createdAt && endsAt <= createdAt + MAX_BLOCK_MS))
    throw new ContractError("bad_request", "endsAt must be in the future, and at most a year away.");
  const block: Block = {
    blockId: deps.random.newId("blk"),
    tenant: principal.tenant,
    network: networkOf(address),
    createdAt,
    endsAt,
    ...(reason !== undefined && { reason }),
    createdBy: principal.actor,
  };
  await deps.backend.blocks.add(block);
  await watch.refreshBlocks();
  return { body: { ok: true, block: blockView(block) }, created: true };
}

export async function listBlocks(
  context: Context,
  call: { caller: Caller; query: { limit?: number; pageToken?: string } },
): Promise<OperationResponse<ListBlocksResponse>> {
  const { deps } = context;
  const principal = await requireOperator(context, call.caller);
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { after, limit } = page;
  const from = await deps.backend.deadlines.now();
  const rows = await deps.backend.blocks.list({ tenant: principal.tenant, after, from }, limit + 1);
  const last = rows.length > limit ? rows[limit - 1]?.blockId : undefined;
  const items = rows.slice(0, limit).map(blockView);
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: last, shown: items.length })) } };
}

export async function removeBlock(
  context: Context,
  call: { caller: Caller; blockId: string },
): Promise<OperationResponse<RemoveBlockResponse>> {
  const { tenant } = await requireOperator(context, call.caller);
  const { blockId } = call;
  if (!(await context.deps.backend.blocks.remove({ tenant, blockId })))
    throw new ContractError("not_found", "This block doesn't exist.");
  await context.watch.refreshBlocks();
  return { body: { ok: true, blockId, removed: true } };
}
