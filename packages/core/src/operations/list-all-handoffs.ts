import type { ListAllHandoffsQuery, ListAllHandoffsResponse, ListedHandoff } from "@formbridge/contract";
import type { Handoff } from "../domain/handoffs/handoff.ts";
import type { Instant } from "../domain/instant.ts";
import type { Submission } from "../domain/submission.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import { reachesIntake, requirePrincipal } from "./identity/authenticate.ts";
import { handoffView } from "./list-handoffs.ts";
import { fillPage } from "./read/fill-page.ts";
import { endPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";

const LIST = "handoffs";

/** The hand-offs of a tenant's submissions, newest first. */
export async function listAllHandoffs(
  context: Context,
  call: { caller: Caller; query: ListAllHandoffsQuery },
): Promise<OperationResponse<ListAllHandoffsResponse>> {
  const { deps } = context;
  const { handoffs, deadlines } = deps.backend;
  const principal = await requirePrincipal(deps, call.caller, "admin");
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { query } = page;
  const { tenant } = principal;
  const now = await deadlines.now();
  const isWhole = principal.intakes === undefined && (query.intakeId ?? query.kind ?? query.status) === undefined;
  const count = isWhole ? (atMost: number) => handoffs.count({ tenant }, atMost) : undefined;
  const { items, next } = await fillPage(page, {
    async read(before, limit) {
      const rows = await handoffs.list({ tenant, ...(before !== undefined && { before }) }, limit);
      return await withViews(context, rows, { principal, now });
    },
    idOf: ({ handoffId }) => handoffId,
    // A filter may leave out most of what is read.
    itemOf: ({ view }) => (view !== undefined && matches(view, query) ? view : undefined),
  });
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: next, shown: items.length, count })) } };
}

/** No view of one whose submission is gone, or is of an intake that the key has no access to. */
async function withViews(
  context: Context,
  rows: readonly Handoff[],
  { principal, now }: { principal: Principal; now: Instant },
): Promise<{ handoffId: string; view?: ListedHandoff }[]> {
  const { store } = context.deps.backend;
  const { policy } = context.deps.settings;
  const ids = [...new Set(rows.map(({ submissionId }) => submissionId))];
  const loaded = await Promise.all(ids.map((id) => store.load({ by: { id, tenant: principal.tenant } })));
  const submissions = new Map<string, Submission | undefined>(
    ids.map((id, index) => [id, loaded[index]?.submission?.submission]),
  );
  return rows.map((handoff) => {
    const submission = submissions.get(handoff.submissionId);
    const { handoffId } = handoff;
    if (submission === undefined || !reachesIntake(principal, submission.intakeId)) return { handoffId };
    const { submissionId, intakeId } = submission;
    const view = { submissionId, intakeId, ...handoffView(context, handoff, { submission, now, policy }) };
    return { handoffId, view };
  });
}

const matches = (
  view: ListedHandoff,
  { intakeId = view.intakeId, kind = view.kind, status = view.status }: Record<string, string>,
): boolean => view.intakeId === intakeId && view.kind === kind && view.status === status;
