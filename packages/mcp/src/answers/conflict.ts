import type { Actor, SubmissionRecord } from "@formbridge/contract";
import { type NextCall, ownName, type Refused } from "./next-call.ts";
import { edited } from "./patch.ts";
import { cutValue } from "./short.ts";

interface Change {
  path: string;
  by: string;
  at: string;
  yours?: unknown;
  theirs?: unknown;
}

/** What others have changed, and the call that takes it into account. */
export interface ConflictCall extends NextCall {
  changed: Change[];
}

const MAX_CHANGES = 20;

/**
 * After a stale token: what others have set since, and the same call on the current version, so that the next call
 * succeeds. Their values are kept. Only for callers to whom the refusal showed the current values.
 */
export function conflictCall(refused: Refused, record: SubmissionRecord | undefined): ConflictCall | undefined {
  const { call, body, tool: called } = refused;
  const { error, resumeToken, version } = body;
  const tool = ownName(refused);
  const isTold = error.current !== undefined && version !== undefined && tool !== undefined;
  if (error.type !== "token_conflict" || !isTold) return undefined;
  const conflicts = new Set(error.conflictDetails?.fields ?? []);
  const { resumeToken: _stale, version: _old, sinceVersion: _seen, ...others } = call.args as Record<string, unknown>;
  const fields = others.fields as Record<string, unknown> | undefined;
  const isTaken = (path: string): boolean =>
    [...conflicts].some((taken) => path === taken || path.startsWith(`${taken}.`));
  const changed = newerThan(record?.attribution ?? {}, error.yourVersion ?? 0).map((change) =>
    withValues(change, { refused, isTaken }),
  );
  return {
    changed,
    note: noteOn({ changed, conflicts, isSubmit: called.suffix === "submit" }),
    tool,
    arguments: {
      ...others,
      ...(resumeToken === undefined ? { submissionId: body.submissionId, version } : { resumeToken }),
      ...(fields && { fields: edited(fields, (path) => !isTaken(path)) }),
    },
  };
}

function noteOn(about: { changed: readonly Change[]; conflicts: ReadonlySet<string>; isSubmit: boolean }): string {
  const { changed, conflicts, isSubmit } = about;
  const few = (names: readonly string[]): string =>
    names.slice(0, 5).join(", ") + (names.length > 5 ? ` and ${names.length - 5} more` : "");
  if (conflicts.size > 0) {
    return `Others have set ${few([...conflicts])} in the meantime. The proposal keeps their values; add yours to overwrite them.`;
  }
  if (changed.length === 0) return "No value has changed in the meantime.";
  const whose = few(changed.map(({ path, by }) => `${path} (${by})`));
  return isSubmit
    ? `Others have changed ${whose} in the meantime. Look at changed, and submit only if that is what should be sent.`
    : `Others have changed ${whose} in the meantime; none of your values conflict.`;
}

const newerThan = (attribution: NonNullable<SubmissionRecord["attribution"]>, version: number): Change[] =>
  Object.entries(attribution)
    .filter(([, write]) => write.version > version)
    .slice(0, MAX_CHANGES)
    .map(([path, { actor, at }]) => ({ path, by: nameOf(actor), at }));

const nameOf = ({ kind, id, name }: Actor): string => `${kind} ${name ?? id}`;

/**
 * Adds their value (masked if sensitive) and the caller's own (unless sensitive), for fields that both set and before a
 * submit, which would send what others wrote.
 */
function withValues(
  change: Change,
  { refused, isTaken }: { refused: Refused; isTaken(path: string): boolean },
): Change {
  const { call, body, guide, tool } = refused;
  const { path } = change;
  if (!isTaken(path) && tool.suffix !== "submit") return change;
  const theirs = valueAt(body.error.current?.fields, path);
  const own = guide?.isSensitive(path) === true ? undefined : call.args.fields;
  const yours = valueAt(own as Record<string, unknown> | undefined, path);
  return {
    ...change,
    ...(yours !== undefined && { yours: cutValue(yours) }),
    ...(theirs !== undefined && { theirs: cutValue(theirs) }),
  };
}

/** By field name, which may contain dots, or else by path. */
function valueAt(fields: Record<string, unknown> | undefined, path: string): unknown {
  if (fields !== undefined && Object.hasOwn(fields, path)) return fields[path];
  let here: unknown = fields;
  for (const segment of path.split(".")) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, segment)) return undefined;
    here = (here as Record<string, unknown>)[segment];
  }
  return here;
}
