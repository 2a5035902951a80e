import {
  type IntakeDefinition,
  type IntakeResponse,
  type IntakeSchemaResponse,
  type ListIntakesQuery,
  type ListIntakesResponse,
  type RetireIntakeResponse,
  translationFor,
} from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { canonicalJson, sha256 } from "../domain/hashing.ts";
import { checkDefinition } from "../domain/intake/check-definition.ts";
import { INTAKES_CHANGED } from "../ports/events.ts";
import type { StoredIntake } from "../ports/intakes.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { refuseUnservable } from "./delivery/destination.ts";
import { refuseAgentGates } from "./identity/agent-gates.ts";
import { authenticate, hasRole, reachesIntake, requirePrincipal } from "./identity/authenticate.ts";
import { DEFAULT_TENANT } from "./keys.ts";
import { viewOf } from "./read/intake-view.ts";
import { endPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";
import { keepEventWebhooks } from "./webhooks/event-webhooks.ts";

const LIST = "intakes";
const notThere = (): ContractError => new ContractError("not_found", "This intake doesn't exist.");

/** A public intake is readable by everyone; any other by an API key of its tenant that has access to it. */
async function visibleIntake(
  context: Context,
  call: { caller: Caller; intakeId: string },
): Promise<{ stored: StoredIntake; forAdmin: boolean }> {
  const { deps } = context;
  const principal = await authenticate(deps, call.caller);
  const stored = await deps.backend.intakes.get(call.intakeId);
  const forAdmin = principal !== undefined && stored?.tenant === principal.tenant && hasRole(principal, "admin");
  if (stored?.definition.access === "public" && !stored.retired) return { stored, forAdmin };
  if (principal === undefined) throw new ContractError("unauthorized", "This needs an API key.");
  if (stored === undefined || stored.tenant !== principal.tenant || !reachesIntake(principal, call.intakeId))
    throw notThere();
  return { stored, forAdmin };
}

export async function getIntake(
  context: Context,
  call: { caller: Caller; intakeId: string },
): Promise<OperationResponse<IntakeResponse>> {
  const { stored, forAdmin } = await visibleIntake(context, call);
  return { body: { ok: true, intake: viewOf(stored, { forAdmin }) } };
}

export async function getIntakeSchema(
  context: Context,
  call: { caller: Caller; intakeId: string },
): Promise<OperationResponse<IntakeSchemaResponse>> {
  const { definition } = (await visibleIntake(context, call)).stored;
  return { body: { ok: true, intakeId: definition.id, version: definition.version, schema: definition.schema } };
}

const isOpenToAll = ({ definition, retired }: StoredIntake): boolean => definition.access === "public" && !retired;

/** All intakes that an API key has access to; without one, the public ones. */
export async function listIntakes(
  context: Context,
  call: { caller: Caller; query: ListIntakesQuery },
): Promise<OperationResponse<ListIntakesResponse>> {
  const { deps } = context;
  const principal = await authenticate(deps, call.caller);
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { after, limit } = page;
  const rows = await deps.backend.intakes.list(
    { tenant: principal?.tenant ?? DEFAULT_TENANT, ...(after !== undefined && { after }) },
    limit + 1,
  );
  const shown = rows.slice(0, limit);
  const items = shown
    .filter(principal === undefined ? isOpenToAll : ({ definition }) => reachesIntake(principal, definition.id))
    .map((stored) => summary(stored, call.query.language));
  const last = rows.length > limit ? shown.at(-1)?.definition.id : undefined;
  // A caller who sees only some of them gets no total.
  const count =
    principal !== undefined && principal.intakes === undefined
      ? (atMost: number) => deps.backend.intakes.count({ tenant: principal.tenant }, atMost)
      : undefined;
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: last, shown: items.length, count })) } };
}

function summary({ definition, retired, source }: StoredIntake, language = ""): ListIntakesResponse["items"][number] {
  const { id, version, access = "key" } = definition;
  const { name = definition.name, description = definition.description } =
    translationFor(definition.translations, language) ?? {};
  return { id, version, name, ...(description !== undefined && { description }), access, retired, source };
}

export async function putIntake(
  context: Context,
  call: { caller: Caller; intakeId: string; definition: unknown },
): Promise<OperationResponse<IntakeResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller, "admin");
  if (!reachesIntake(principal, call.intakeId)) throw notThere();
  const definition = checkDefinition(call.definition, { maxFields: context.deps.settings.maxSchemaFields });
  if (definition.id !== call.intakeId) throw new ContractError("bad_request", "id must be the same as in the path.");
  return await registerIntake(context, { tenant: principal.tenant, source: "api", definition });
}

const MAX_TRIES = 8;

interface NewIntake {
  tenant: string;
  source: "folder" | "api";
  definition: IntakeDefinition;
}

/**
 * Makes a checked definition the current one for its id. Registering the same again changes nothing; any change needs a
 * new version.
 */
export async function registerIntake(context: Context, intake: NewIntake): Promise<OperationResponse<IntakeResponse>> {
  refuseUnservable(context.deps, intake.definition.destination);
  const answer = await makeCurrent(context, intake);
  // Even if nothing changed: the process that registered it may have died before this step.
  await keepEventWebhooks(context, intake.definition.id);
  return answer;
}

async function makeCurrent(context: Context, intake: NewIntake): Promise<OperationResponse<IntakeResponse>> {
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
    await refuseOlder(context, known, { ...intake, digest });
    await refuseAgentGates(context.deps, intake);
    const put = await intakes.put({ tenant, source, definition, digest }, known?.digest);
    // Some MCP hosts don't distinguish `-` and `_` in tool names.
    if (put === "collides")
      throw new ContractError(
        "conflict",
        `The intake id ${definition.id} differs from an existing one only in - and _. Choose another.`,
      );
    if (put === "stored") {
      context.deps.wakeups.notify(INTAKES_CHANGED);
      const created = known === undefined || known.retired;
      return { body: { ok: true, intake: viewOf({ ...intake, retired: false }, { forAdmin: true }) }, created };
    }
  }
  throw new ContractError("conflict", "This intake is being changed by others right now. Try again.", {
    retryable: true,
  });
}

/**
 * Replaced definitions are kept, so they can be recognized. A folder that still has one is older than the store, and
 * starting with it would revert the definition for everyone.
 */
async function refuseOlder(
  { deps }: Context,
  known: StoredIntake | undefined,
  { source, definition, digest }: NewIntake & { digest: string },
): Promise<void> {
  if (source !== "folder" || known === undefined || known.digest === digest) return;
  if ((await deps.backend.intakes.definition(digest)) === undefined) return;
  throw new ContractError(
    "conflict",
    `Version ${definition.version} of the intake ${definition.id} was replaced by version ${known.definition.version}. Bring the folder ` +
      "of intakes up to date; to go back on purpose, give the old definition a new version.",
  );
}

function refuseClash(known: StoredIntake | undefined, next: NewIntake & { digest: string }): void {
  if (known === undefined) return;
  const { id, version } = next.definition;
  if (known.tenant !== next.tenant) throw new ContractError("conflict", `The intake id ${id} is already taken.`);
  if (known.source === "folder" && next.source === "api" && !known.retired) {
    throw new ContractError(
      "conflict",
      `The intake ${id} is defined by a file in the server's intakes folder. Change it there.`,
    );
  }
  if (known.digest !== next.digest && known.definition.version === version) {
    throw new ContractError(
      "conflict",
      `The intake ${id} was changed but still has version ${version}. Give it a new version.`,
    );
  }
}

export async function retireIntake(
  context: Context,
  call: { caller: Caller; intakeId: string },
): Promise<OperationResponse<RetireIntakeResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller, "admin");
  const { intakes } = context.deps.backend;
  const known = await intakes.get(call.intakeId);
  if (known === undefined || known.tenant !== principal.tenant || !reachesIntake(principal, call.intakeId))
    throw notThere();
  if (known.source === "folder") {
    throw new ContractError(
      "conflict",
      `The intake ${call.intakeId} is defined by a file in the server's intakes folder. Change it there.`,
    );
  }
  if (!known.retired) {
    await intakes.retire({ tenant: principal.tenant, id: call.intakeId });
    context.deps.wakeups.notify(INTAKES_CHANGED);
  }
  return { body: { ok: true, intakeId: call.intakeId, retired: true } };
}
