import type {
  IntakeDefinition,
  IntakeResponse,
  IntakeSchemaResponse,
  ListIntakesQuery,
  ListIntakesResponse,
  RetireIntakeResponse,
} from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { canonicalJson, sha256 } from "../domain/hashing.ts";
import { checkDefinition } from "../domain/intake/check-definition.ts";
import { INTAKES_CHANGED } from "../ports/events.ts";
import type { StoredIntake } from "../ports/intakes.ts";
import type { Caller } from "./caller.ts";
import type { Answer } from "./support/answer.ts";
import { authenticate, hasRole, reachesIntake, requirePrincipal, requireRole } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { keepEventWebhooks } from "./support/event-webhooks.ts";
import { viewOf } from "./support/intake-view.ts";
import { DEFAULT_PAGE, nextPage, openPage } from "./support/paging.ts";

const LIST = "intakes";
const notThere = (): ContractError => new ContractError("not_found", "There is no such intake.");

/** A public intake is readable by everybody; any other one by a key of its tenant that reaches it. */
async function visibleIntake(
  context: Context,
  call: { caller: Caller; intakeId: string },
): Promise<{ stored: StoredIntake; forAdmin: boolean }> {
  const { deps } = context;
  const principal = await authenticate(deps, call.caller);
  const stored = await deps.backend.intakes.get(call.intakeId);
  const forAdmin = principal !== undefined && stored?.tenant === principal.tenant && hasRole(principal, "admin");
  if (stored?.definition.access === "public" && !stored.retired) return { stored, forAdmin };
  if (principal === undefined)
    throw new ContractError("unauthorized", "This needs an API key: Authorization: Bearer fbk_…");
  if (stored === undefined || stored.tenant !== principal.tenant || !reachesIntake(principal, call.intakeId))
    throw notThere();
  return { stored, forAdmin };
}

export async function getIntake(
  context: Context,
  call: { caller: Caller; intakeId: string },
): Promise<Answer<IntakeResponse>> {
  const { stored, forAdmin } = await visibleIntake(context, call);
  return { body: { ok: true, intake: viewOf(stored, { forAdmin }) } };
}

export async function getIntakeSchema(
  context: Context,
  call: { caller: Caller; intakeId: string },
): Promise<Answer<IntakeSchemaResponse>> {
  const { definition } = (await visibleIntake(context, call)).stored;
  return { body: { ok: true, intakeId: definition.id, version: definition.version, schema: definition.schema } };
}

export async function listIntakes(
  context: Context,
  call: { caller: Caller; query: ListIntakesQuery },
): Promise<Answer<ListIntakesResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller);
  const { limit: size, pageToken } = call.query;
  const { query, after } = await openPage(deps, LIST, {
    pageToken,
    limit: size === undefined ? undefined : String(size),
  });
  const limit = Number(query.limit ?? DEFAULT_PAGE);
  const rows = await deps.backend.intakes.list(
    { tenant: principal.tenant, ...(after !== undefined && { after }) },
    limit + 1,
  );
  const page = rows.slice(0, limit);
  const items = page.filter(({ definition }) => reachesIntake(principal, definition.id)).map(summary);
  const last = rows.length > limit ? page.at(-1)?.definition.id : undefined;
  return { body: { ok: true, items, ...(await nextPage(deps, { list: LIST, query, after: last })) } };
}

const summary = ({ definition, retired, source }: StoredIntake): ListIntakesResponse["items"][number] => ({
  id: definition.id,
  version: definition.version,
  name: definition.name,
  ...(definition.description !== undefined && { description: definition.description }),
  access: definition.access ?? "key",
  retired,
  source,
});

export async function putIntake(
  context: Context,
  call: { caller: Caller; intakeId: string; definition: unknown },
): Promise<Answer<IntakeResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller);
  requireRole(principal, "admin");
  if (!reachesIntake(principal, call.intakeId)) throw notThere();
  const definition = checkDefinition(call.definition, { maxFields: context.deps.settings.maxSchemaFields });
  if (definition.id !== call.intakeId) throw new ContractError("bad_request", "id is not the id of the path.");
  return await registerIntake(context, { tenant: principal.tenant, source: "api", definition });
}

const MAX_TRIES = 8;

interface NewIntake {
  tenant: string;
  source: "folder" | "api";
  definition: IntakeDefinition;
}

/** Makes a checked definition the current one of its id. What it says again changes nothing; any change needs a version. */
export async function registerIntake(context: Context, intake: NewIntake): Promise<Answer<IntakeResponse>> {
  const answer = await makeCurrent(context, intake);
  // Also when nothing changed: whoever made it current may have died before this.
  await keepEventWebhooks(context, intake.definition.id);
  return answer;
}

async function makeCurrent(context: Context, intake: NewIntake): Promise<Answer<IntakeResponse>> {
  const { intakes } = context.deps.backend;
  const { definition, source, tenant } = intake;
  const digest = sha256(canonicalJson(definition));
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const known = await intakes.get(definition.id);
    const isSame = known?.digest === digest && !known.retired && known.tenant === tenant;
    if (known !== undefined && isSame && (known.source === source || source === "api")) {
      return { body: { ok: true, intake: viewOf(known, { forAdmin: true }) } };
    }
    refuseClash(known, { ...intake, digest });
    const put = await intakes.put({ tenant, source, definition, digest }, known?.digest);
    // Tool names of the agent protocol take `-` and `_` alike on some hosts.
    if (put === "collides")
      throw new ContractError("conflict", `The intake id ${definition.id} collides with another one.`);
    if (put === "stored") {
      context.deps.wakeups.notify(INTAKES_CHANGED);
      const created = known === undefined || known.retired;
      return { body: { ok: true, intake: viewOf({ ...intake, retired: false }, { forAdmin: true }) }, created };
    }
  }
  throw new ContractError("conflict", "Others keep changing this intake.", { retryable: true });
}

function refuseClash(known: StoredIntake | undefined, next: NewIntake & { digest: string }): void {
  if (known === undefined) return;
  const { id, version } = next.definition;
  if (known.tenant !== next.tenant) throw new ContractError("conflict", `The intake id ${id} is taken.`);
  if (known.source === "folder" && next.source === "api" && !known.retired) {
    throw new ContractError("conflict", `The intake ${id} is defined by the server's folder of intakes.`);
  }
  if (known.digest !== next.digest && known.definition.version === version) {
    throw new ContractError(
      "conflict",
      `The intake ${id} changed and is still version ${version}: give it another version.`,
    );
  }
}

export async function retireIntake(
  context: Context,
  call: { caller: Caller; intakeId: string },
): Promise<Answer<RetireIntakeResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller);
  requireRole(principal, "admin");
  const { intakes } = context.deps.backend;
  const known = await intakes.get(call.intakeId);
  if (known === undefined || known.tenant !== principal.tenant || !reachesIntake(principal, call.intakeId))
    throw notThere();
  if (known.source === "folder") {
    throw new ContractError("conflict", `The intake ${call.intakeId} is defined by the server's folder of intakes.`);
  }
  if (!known.retired) {
    await intakes.retire({ tenant: principal.tenant, id: call.intakeId });
    context.deps.wakeups.notify(INTAKES_CHANGED);
  }
  return { body: { ok: true, intakeId: call.intakeId, retired: true } };
}
