import type { ErrorType, SubmissionRecord } from "@formbridge/contract";
import { ContractError, isObject, type OperationResponse } from "@formbridge/core";
import type { CallerView } from "../catalog.ts";
import { guideOf } from "../schema/guide.ts";
import { type Tool, type ToolCall, targetOf } from "../tools/tool.ts";
import { conflictCall } from "./conflict.ts";
import { errorAnswer } from "./error-result.ts";
import { type NextCall, nextCall, ownName, type Refused } from "./next-call.ts";
import { edited, pathsIn } from "./patch.ts";
import { type ToolResult, toolResult } from "./result.ts";
import { shortError } from "./short.ts";

interface Meeting {
  tool: Tool;
  /** With the raw arguments. */
  call: ToolCall;
  view: CallerView;
}

/** A refusal for a model: the contract's envelope, hints that name the caller's tools, and the next call to make. */
export async function refusal(error: ContractError, { tool, call, view }: Meeting): Promise<ToolResult> {
  const read = await about(error, { tool, call, view });
  const intakeId = read?.intakeId ?? call.intakeId ?? intakeNamed(call, view);
  const schema = read?.schema ?? view.intakes.find(({ definition }) => definition.id === intakeId)?.definition.schema;
  const known = { ...(schema && { guide: guideOf(schema) }), ...(intakeId !== undefined && { intakeId }) };
  const body = errorAnswer(error, { ...known, tool: (suffix) => view.nameOf(suffix, intakeId) });
  const refused: Refused = { tool, call, body, view, ...known };
  const isReplay = error.about.replayOf !== undefined;
  const proposed =
    (isReplay ? onCurrent(refused, read?.record) : conflictCall(refused, read?.record)) ?? nextCall(refused);
  const told = call.args.verbose === true ? body : shortError(body);
  const proposal = proposed && { proposal: discreet(proposed, refused) };
  return toolResult({ ...told, error: { ...told.error, ...proposal } }, { isError: true, replayed: isReplay });
}

/** A replayed refusal may describe an older version: what it asks for may have been done since. */
function onCurrent(refused: Refused, record: SubmissionRecord | undefined): NextCall | undefined {
  const tool = ownName(refused);
  const { version, resumeToken } = record ?? {};
  if (tool === undefined || resumeToken === undefined || version === refused.body.version) return undefined;
  const { version: _old, ...args } = refused.call.args as Record<string, unknown>;
  const note = `This response was recorded earlier, and the submission is now at version ${version}. Repeat the call on that version.`;
  return { tool, arguments: { ...args, resumeToken }, note };
}

const intakeNamed = ({ args }: ToolCall, { intakes }: CallerView): string | undefined =>
  intakes.find(({ definition }) => definition.id === args.intakeId)?.definition.id;

/** Refusals that the submission's current state helps to explain. For others the extra lookup isn't worth it. */
const EXPLAINED: readonly ErrorType[] = [
  "bad_request",
  "missing",
  "invalid",
  "upload_pending",
  "token_conflict",
  "token_required",
  "token_expired",
  "cancelled",
  "conflict",
  "forbidden",
];

interface Known {
  intakeId: string;
  schema: Record<string, unknown> | undefined;
  record: SubmissionRecord;
}

/** The refused submission, if the caller may read it. */
async function about(error: ContractError, { tool, call }: Meeting): Promise<Known | undefined> {
  const { resumeToken = error.about.resumeToken, submissionId } = call.args as Record<string, string | undefined>;
  const isNamed = resumeToken !== undefined || submissionId !== undefined;
  const isAbout = Object.hasOwn(tool.args.properties, "submissionId") && EXPLAINED.includes(error.type);
  if (!isNamed || !isAbout) return undefined;
  // The token in a recorded response may be outdated, so read by id if there is an API key.
  const isReplay = error.about.replayOf !== undefined && call.caller.apiKey !== undefined;
  const token = isReplay ? undefined : (error.about.resumeToken ?? resumeToken);
  const target = { ...targetOf({ ...call, args: {} }), tokens: typeof token === "string" ? [token] : [] };
  try {
    const { body, definition }: OperationResponse<SubmissionRecord> = await call.operations.getSubmission({
      caller: call.caller,
      target: { ...target, ...idOf(submissionId ?? (isReplay ? error.about.submissionId : undefined)) },
    });
    return { intakeId: body.intakeId, schema: definition?.schema, record: body };
  } catch (cause) {
    if (cause instanceof ContractError) return undefined;
    throw cause;
  }
}

const idOf = (submissionId: unknown): { submissionId?: string } =>
  typeof submissionId === "string" ? { submissionId } : {};

/**
 * A proposal repeats what the caller sent except sensitive values, because hosts store responses. Removed values are
 * listed for the caller to add again. Without the schema we can't tell what is sensitive, so nothing is repeated.
 */
function discreet<Call extends NextCall>(proposed: Call, { guide }: Refused): Call {
  for (const name of ["fields", "initialFields"]) {
    const fields = proposed.arguments[name];
    if (!isObject(fields)) continue;
    const hides = (path: string): boolean => guide === undefined || guide.isSensitive(path);
    const hidden = pathsIn(fields).filter((path) => hides(path));
    if (hidden.length === 0) return proposed;
    const supply = [...(proposed.supply ?? []), ...hidden.map((path) => `${name}.${path}`)];
    const left = edited(fields, (path) => !hides(path));
    return { ...proposed, arguments: { ...proposed.arguments, [name]: left }, supply };
  }
  return proposed;
}
