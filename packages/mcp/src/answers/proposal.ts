import type { Actor, ErrorBody, SubmissionRecord } from "@formbridge/contract";
import { ContractError, isObject } from "@formbridge/core";
import { intakeToolName } from "../tools/table.ts";
import { type Tool, type ToolCall, targetOf } from "../tools/tool.ts";
import { cutValue } from "./short.ts";

export interface Change {
  path: string;
  by: string;
  at: string;
  yours?: unknown;
  theirs?: unknown;
}

export interface Proposal {
  tool: string;
  arguments: Record<string, unknown>;
  changed: Change[];
  note: string;
}

const MAX_CHANGES = 20;

/**
 * After a stale token: the same call on the current version, so that one more call succeeds. What others have set meanwhile stays
 * as they set it. Only for those whom the refusal itself told the current values.
 */
export async function proposalFor(tool: Tool, call: ToolCall, body: ErrorBody): Promise<Proposal | undefined> {
  const { error, resumeToken, version } = body;
  if (error.type !== "token_conflict" || error.current === undefined || version === undefined) return undefined;
  const changed = await changesSince(call, body);
  const conflicts = new Set(error.conflictDetails?.fields ?? []);
  const { fields, ...rest } = call.args as { fields?: Record<string, unknown> };
  const merged = fields === undefined ? undefined : withoutConflicts(fields, conflicts);
  const { resumeToken: _stale, version: _old, ...others } = rest as Record<string, unknown>;
  return {
    tool:
      tool.suffix !== undefined && call.intakeId !== undefined
        ? intakeToolName(call.intakeId, tool.suffix)
        : tool.generic,
    arguments: {
      ...others,
      ...(resumeToken === undefined ? { version } : { resumeToken }),
      ...(merged && { fields: merged }),
    },
    changed: changed.map((change) => withBoth(change, { conflicts, fields, current: error.current?.fields })),
    note:
      conflicts.size === 0
        ? "Nothing of yours collides: send it as it is."
        : `Others have set ${[...conflicts].join(", ")} meanwhile. The proposal keeps their values; add yours to overwrite them.`,
  };
}

/** By the attribution of each field. A caller who may not read it gets none. */
async function changesSince(call: ToolCall, { error, resumeToken, submissionId }: ErrorBody): Promise<Change[]> {
  const { yourVersion = 0 } = error;
  const target = { ...targetOf(call), tokens: resumeToken === undefined ? [] : [resumeToken], versions: [] };
  try {
    const { body } = await call.operations.getSubmission({
      caller: call.caller,
      target: { ...target, ...(submissionId !== undefined && { submissionId }) },
    });
    return newerThan(body.attribution ?? {}, yourVersion);
  } catch (cause) {
    if (cause instanceof ContractError) return [];
    throw cause;
  }
}

const newerThan = (attribution: NonNullable<SubmissionRecord["attribution"]>, version: number): Change[] =>
  Object.entries(attribution)
    .filter(([, write]) => write.version > version)
    .slice(0, MAX_CHANGES)
    .map(([path, { actor, at }]) => ({ path, by: nameOf(actor), at }));

const nameOf = ({ kind, id, name }: Actor): string => `${kind} ${name ?? id}`;

/** What is left of a patch when the places that others have set are taken out. */
function withoutConflicts(
  fields: Record<string, unknown>,
  conflicts: ReadonlySet<string>,
  above = "",
): Record<string, unknown> {
  const left: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const path = `${above}${key}`;
    if ([...conflicts].some((taken) => path === taken || path.startsWith(`${taken}.`))) continue;
    const isTouched = [...conflicts].some((taken) => taken.startsWith(`${path}.`));
    if (!isTouched) left[key] = value;
    else if (isObject(value)) left[key] = withoutConflicts(value, conflicts, `${path}.`);
  }
  return left;
}

function withBoth(
  change: Change,
  told: {
    conflicts: ReadonlySet<string>;
    fields: Record<string, unknown> | undefined;
    current: Record<string, unknown> | undefined;
  },
): Change {
  if (!told.conflicts.has(change.path)) return change;
  const yours = valueAt(told.fields, change.path);
  const theirs = valueAt(told.current, change.path);
  return {
    ...change,
    ...(yours !== undefined && { yours: cutValue(yours) }),
    ...(theirs !== undefined && { theirs: cutValue(theirs) }),
  };
}

/** A name, also one with dots, or else a path. */
function valueAt(fields: Record<string, unknown> | undefined, path: string): unknown {
  if (fields !== undefined && Object.hasOwn(fields, path)) return fields[path];
  let here: unknown = fields;
  for (const segment of path.split(".")) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, segment)) return undefined;
    here = (here as Record<string, unknown>)[segment];
  }
  return here;
}
