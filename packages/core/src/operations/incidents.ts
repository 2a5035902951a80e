import type {
  CloseIncidentRequest,
  IncidentResponse,
  ListIncidentsQuery,
  ListIncidentsResponse,
} from "@formbridge/contract";
import { type Incident, incidentView } from "../domain/alarms/incident.ts";
import { decideReissueToken } from "../domain/decide/tokens.ts";
import { ContractError } from "../domain/error.ts";
import { blockOf } from "./alarms/respond.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import { reachesIntake, requirePrincipal } from "./identity/authenticate.ts";
import { endPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";
import { actOnLatest } from "./write/act-on-latest.ts";
import { decideContextOf } from "./write/decide-context.ts";

const LIST = "incidents";
const MAX_TRIES = 16;

/** An API key limited to some intakes sees only their incidents. */
const sees = (principal: Principal, { evidence }: Incident): boolean =>
  principal.intakes === undefined || (evidence.intakeId !== undefined && reachesIntake(principal, evidence.intakeId));

export async function listIncidents(
  { deps }: Context,
  call: { caller: Caller; query: ListIncidentsQuery },
): Promise<OperationResponse<ListIncidentsResponse>> {
  const principal = await requirePrincipal(deps, call.caller, "admin");
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { after, limit } = page;
  const { state, kind, submissionId } = page.query as Pick<ListIncidentsQuery, "state" | "kind" | "submissionId">;
  const where = { tenant: principal.tenant, state, kind, submissionId };
  const rows = await deps.backend.incidents.list({ ...where, after }, limit + 1);
  const last = rows.length > limit ? rows[limit - 1]?.incidentId : undefined;
  const items = rows
    .slice(0, limit)
    .filter((incident) => sees(principal, incident))
    .map(incidentView);
  const count =
    principal.intakes === undefined ? (atMost: number) => deps.backend.incidents.count(where, atMost) : undefined;
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: last, shown: items.length, count })) } };
}

interface IncidentCall {
  caller: Caller;
  incidentId: string;
  request: CloseIncidentRequest;
}

/** Acknowledging twice changes nothing; neither does acknowledging a closed one. */
export async function acknowledgeIncident(
  context: Context,
  call: IncidentCall,
): Promise<OperationResponse<IncidentResponse>> {
  const { incident } = await amend(context, call, (known, handled) =>
    known.state === "open" ? { ...known, state: "acknowledged", acknowledged: handled } : known,
  );
  return { body: { ok: true, incident: incidentView(incident) } };
}

/**
 * Closes it, and as a false positive undoes what the server did: its block is lifted, and if it revoked the tokens, a new one is
 * issued for those who may read it. Sessions and old tokens stay revoked. Closing again as a false positive repeats the undoing.
 */
export async function closeIncident(
  context: Context,
  call: IncidentCall,
): Promise<OperationResponse<IncidentResponse>> {
  const { falsePositive = false } = call.request;
  const { incident, by } = await amend(context, call, (known, handled) => {
    if (known.state === "closed" && known.falsePositive === falsePositive) return known;
    const { due: _, ...rest } = known;
    return { ...rest, state: "closed", closed: handled, falsePositive };
  });
  const body: IncidentResponse = { ok: true, incident: incidentView(incident) };
  if (!falsePositive) return { body };
  const { tenant, incidentId, evidence } = incident;
  const lifted = await context.deps.backend.blocks.remove({ tenant, blockId: blockOf(incidentId) });
  await context.watch.refreshBlocks();
  const reissued =
    evidence.submissionId !== undefined &&
    (await restoreToken(context, { tenant, submissionId: evidence.submissionId, incidentId, by }));
  return { body: { ...body, liftedBlocks: lifted ? 1 : 0, reissued } };
}

/** Only if this incident's response was the last to revoke: a revocation by an operator since then stays. */
async function restoreToken(
  context: Context,
  { by, incidentId, ...where }: { tenant: string; submissionId: string; incidentId: string; by: Principal },
): Promise<boolean> {
  const restored = await actOnLatest(context, where, {
    operation: "reissueToken",
    actor: by.actor,
    decide({ submission, intake, now }) {
      const entry = submission.incidents?.find((one) => one.incidentId === incidentId);
      const isItsDoing = entry?.response === "revoke" && submission.epochSince === entry.at;
      if (!submission.tokensRevoked || !isItsDoing) return undefined;
      const about = decideContextOf(context.deps, { now, actor: by.actor, intake });
      const decision = decideReissueToken(submission, about);
      return decision.refusal === undefined ? { decision } : undefined;
    },
  });
  return restored !== undefined;
}

async function amend(
  { deps }: Context,
  { caller, incidentId, request }: IncidentCall,
  change: (incident: Incident, handled: NonNullable<Incident["closed"]>) => Incident,
): Promise<{ incident: Incident; by: Principal }> {
  const principal = await requirePrincipal(deps, caller, "admin");
  const { tenant } = principal;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const known = await deps.backend.incidents.get({ tenant, incidentId });
    if (known === undefined || !sees(principal, known))
      throw new ContractError("not_found", "This incident doesn't exist.");
    const changed = change(known, { by: principal.actor, at: await deps.backend.deadlines.now() });
    const { note } = request;
    if (changed === known && (note === undefined || note === known.note)) return { incident: known, by: principal };
    const next = { ...changed, revision: known.revision + 1, ...(note !== undefined && { note }) };
    if (await deps.backend.incidents.update(next)) return { incident: next, by: principal };
  }
  throw new ContractError("service_unavailable", "The incident is being changed by others right now. Try again.", {
    retryAfterMs: 100,
  });
}
