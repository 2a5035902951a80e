import type { ApprovalGate, IntakeDefinition } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import type { Deps } from "../deps.ts";

const PAGE = 1000;

/** Reviewers, and where they were named. */
interface Named {
  path: string;
  reviewers: ApprovalGate["reviewers"];
}

/** A gate for humans only that names, individually, no one but known agents could never be passed. */
export async function refuseAgentGates(
  deps: Deps,
  { tenant, definition }: { tenant: string; definition: IntakeDefinition },
): Promise<void> {
  const named = (definition.approvalGates ?? []).map(({ reviewers }, index) => ({
    path: `approvalGates.${index}.reviewers.ids`,
    reviewers,
  }));
  await refuseAgentsAlone(deps, { tenant, named, wayOut: "name a human, or say allowAgents: true" });
}

export async function refuseAgentsAlone(
  { backend }: Deps,
  { tenant, named, wayOut }: { tenant: string; named: readonly Named[]; wayOut: string },
): Promise<void> {
  const alone = named
    .map(({ path, reviewers }) => ({ path, ids: namedAlone(reviewers) }))
    .filter(({ ids }) => ids.length > 0);
  if (alone.length === 0) return;
  const kinds = new Map<string, Set<string>>();
  for (let after: string | undefined; ; ) {
    const keys = await backend.keys.list({ tenant, ...(after !== undefined && { after }) }, PAGE);
    for (const { actor } of keys) kinds.set(actor.id, (kinds.get(actor.id) ?? new Set()).add(actor.kind));
    after = keys.at(-1)?.keyId;
    if (keys.length < PAGE) break;
  }
  const isAgent = (id: string): boolean => kinds.has(id) && kinds.get(id)?.has("human") === false;
  const fields = alone
    .filter(({ ids }) => ids.every(isAgent))
    .map(({ path }) => {
      const message = `${path} names only agents, and only humans review: ${wayOut}.`;
      return { path, code: "invalid_value" as const, message };
    });
  if (fields.length > 0) {
    throw new ContractError("invalid", fields.map(({ message }) => message).join(" "), { fields });
  }
}

/** The ids of a gate that accepts nobody else. */
function namedAlone(reviewers: ApprovalGate["reviewers"]): readonly string[] {
  const { ids = [], roles = [], emails = [], escalateTo, allowAgents } = reviewers;
  return allowAgents === true || roles.length + emails.length > 0 || escalateTo !== undefined ? [] : ids;
}
