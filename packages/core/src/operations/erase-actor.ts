import type { EraseActorRequest, EraseActorResponse } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { askAdmin } from "../domain/next-actions.ts";
import { BEARER } from "../domain/tokens/bearer.ts";
import { ERASED_ACTOR, isSought, type SoughtActor } from "../domain/traces.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { type ErasurePage, erasePage } from "./erasure/erase-page.ts";
import { requirePrincipal } from "./identity/authenticate.ts";
import { nextPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";

/** Recorded instead of a person: for the operator's commands, and for actors who erase themselves. */
const ERASURE = { kind: "system", id: "erasure" } as const;

/** Erases everything about one actor, page by page: each call does a bounded part and says where the next one starts. */
export async function eraseActor(
  context: Context,
  call: { caller: Caller; request: EraseActorRequest },
): Promise<OperationResponse<EraseActorResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller, "admin");
  if (principal.intakes !== undefined) {
    const words = "An actor is erased from all intakes, and this key is limited to some of them.";
    throw new ContractError("forbidden", words, { nextActions: askAdmin() });
  }
  const { actor: sought, dryRun = false, limit, pageToken } = call.request;
  refuseReserved(sought);
  const page = await openPage(
    deps,
    { list: "erasures", principal },
    { actorId: sought.id, actorKind: sought.kind, dryRun: String(dryRun), limit, pageToken },
  );
  const { tenant, keyId: ownKey } = principal;
  const by = isSought(principal.actor, sought) ? ERASURE : principal.actor;
  const { report, next } = await erasePage(context, { tenant, sought, dryRun, by, ownKey }, page);
  const rest = await nextPage(deps, page, { after: next, shown: report.scanned });
  return { body: { ok: true, dryRun, done: next === undefined, report, ...rest } };
}

/** One page for the operator's own commands, which need no API key. */
export async function eraseActorFor(
  context: Context,
  erasure: { tenant: string; sought: SoughtActor; dryRun: boolean },
  page: { after?: string; limit: number },
): Promise<ErasurePage> {
  refuseReserved(erasure.sought);
  return await erasePage(context, { ...erasure, by: ERASURE }, page);
}

/** Placeholders for people whose names are unknown. */
function refuseReserved({ id }: SoughtActor): void {
  if (id !== ERASED_ACTOR && id !== BEARER.id) return;
  throw new ContractError("bad_request", `actor.id: "${id}" stands for actors without a name, and can't be erased.`);
}
