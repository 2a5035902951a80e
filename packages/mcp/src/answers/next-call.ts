import type { ErrorBody, ErrorType, NextAction } from "@formbridge/contract";
import { isEditable } from "@formbridge/core";
import type { CallerView } from "../catalog.ts";
import type { Guide } from "../schema/guide.ts";
import { getTool, listTool } from "../tools/intakes.ts";
import { intakeToolName } from "../tools/table.ts";
import type { Suffix, Tool, ToolCall } from "../tools/tool.ts";
import { correctedArguments } from "./corrected-arguments.ts";
import { correctedFields } from "./corrected-fields.ts";

type Arguments = Record<string, unknown>;

/** The one call to make after a refusal: a tool in the caller's list, with arguments. */
export interface NextCall {
  tool: string;
  arguments: Arguments;
  /** Dot-paths in `arguments` of values that only the caller can supply. */
  supply?: string[];
  note: string;
}

/** A refusal and the call that was refused. */
export interface Refused {
  tool: Tool;
  /** With the raw arguments, which may be what was refused. */
  call: ToolCall;
  body: ErrorBody;
  view: CallerView;
  /** The submission's intake, if known. */
  intakeId?: string;
  guide?: Guide;
}

/** The called tool's name in the caller's list; undefined if it isn't listed. */
export function ownName({ tool, view, intakeId }: Refused): string | undefined {
  if (tool.suffix !== undefined) return view.nameOf(tool.suffix, intakeId);
  return view.lists(tool) ? tool.generic : undefined;
}

/**
 * Identifies the submission: the current token if the refusal contains it, else the token that was sent, else the id.
 */
export function submissionIn({ body, call, view }: Refused): Arguments {
  const sent = OVER.includes(body.error.type) ? undefined : call.args.resumeToken;
  const resumeToken = body.resumeToken ?? sent;
  if (resumeToken !== undefined) return { resumeToken };
  const { submissionId = body.submissionId } = call.args as { submissionId?: string };
  return submissionId === undefined || view.needsToken ? {} : { submissionId };
}

/** Refusals after which the token that was sent no longer works. */
const OVER: readonly ErrorType[] = ["token_conflict", "token_expired", "token_invalid", "expired"];

/** Always defined for a caller who has any tool: there is always something to read or to start. */
export function nextCall(refused: Refused): NextCall | undefined {
  const next = byType(refused) ?? byActions(refused) ?? again(refused) ?? startOver(refused);
  return next && namingIntake(next, refused);
}

/** An intake's own create tool can be called without being listed; the shared one needs the intake id. */
function namingIntake(next: NextCall, { tool, intakeId }: Refused): NextCall {
  const isShared = tool.suffix === "create" && next.tool === tool.generic;
  if (!isShared || intakeId === undefined || next.arguments.intakeId !== undefined) return next;
  return { ...next, arguments: { intakeId, ...next.arguments } };
}

function byType(refused: Refused): NextCall | undefined {
  const { body, call } = refused;
  switch (body.error.type) {
    case "bad_request":
      return correctedArguments(refused);
    case "invalid":
    case "missing":
      return correctedFields(refused) ?? correctedArguments(refused);
    case "token_required":
      return withToken(refused);
    case "forbidden":
      return call.args.actor === undefined
        ? read(refused, "You may read it.")
        : same(refused, without(call.args, "actor"), "Leave actor out; your own is recorded.");
    case "conflict":
      return isKeyTaken(refused) ? withNewKey(refused) : undefined;
    case "not_found":
    case "token_invalid":
      return withNamesSwapped(refused) ?? lookElsewhere(refused);
    case "rate_limited":
    case "locked":
    case "service_unavailable":
    case "internal_error":
      return body.error.retryable ? later(refused) : withoutNamed(refused);
    default:
      return undefined;
  }
}

const without = (args: Readonly<Arguments>, ...names: string[]): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));

function same(refused: Refused, args: Arguments, note: string): NextCall | undefined {
  const tool = ownName(refused);
  return tool === undefined ? undefined : { tool, arguments: args, note };
}

function later(refused: Refused): NextCall | undefined {
  const { call, body } = refused;
  const { retryAfterMs = 1000 } = body.error;
  return same(refused, { ...call.args }, `Make the same call again after ${Math.ceil(retryAfterMs / 1000)} s.`);
}

/** This server can't do what some of the arguments ask for, however often. */
function withoutNamed(refused: Refused): NextCall | undefined {
  const { call, body } = refused;
  const names = (body.error.fields ?? []).map(({ path }) => path).filter((path) => Object.hasOwn(call.args, path));
  if (names.length === 0) return undefined;
  return same(refused, without(call.args, ...names), `Leave ${names.join(" and ")} out.`);
}

function named(refused: Refused, suffix: Suffix, args: Arguments, note: string): NextCall | undefined {
  const tool = refused.view.nameOf(suffix, refused.intakeId);
  return tool === undefined ? undefined : { tool, arguments: args, note };
}

function withToken(refused: Refused): NextCall | undefined {
  const { body, call } = refused;
  const swapped = withNamesSwapped(refused);
  if (swapped !== undefined) return swapped;
  if (body.resumeToken !== undefined) {
    return same(
      refused,
      { ...without(call.args, "version"), resumeToken: body.resumeToken },
      "Send the current token.",
    );
  }
  const again = same(refused, { ...call.args }, "Add the resumeToken of the latest response about the submission.");
  return again === undefined ? undefined : { ...again, supply: ["resumeToken"] };
}

/** An id that was sent as the token, or the other way round. */
function withNamesSwapped(refused: Refused): NextCall | undefined {
  const { submissionId, resumeToken, ...rest } = refused.call.args as Record<string, unknown>;
  const isId = submissionId === undefined && String(resumeToken).startsWith("sub_") && !refused.view.needsToken;
  if (isId) return same(refused, { submissionId: resumeToken, ...rest }, "This is a submissionId, not a resumeToken.");
  const isToken = resumeToken === undefined && String(submissionId).startsWith("rtok_");
  if (!isToken) return undefined;
  return same(refused, { resumeToken: submissionId, ...rest }, "This is a resumeToken, not a submissionId.");
}

/** The idempotency key was used by another request. A locked submission is a `conflict` too, but not this one. */
const isKeyTaken = ({ body: { state }, call }: Refused): boolean =>
  call.args.idempotencyKey !== undefined && (state === undefined || isEditable(state));

const withNewKey = (refused: Refused): NextCall | undefined =>
  same(
    refused,
    { ...refused.call.args, idempotencyKey: crypto.randomUUID() },
    "Another request has used this key. If yours is a new request, send it with a new key.",
  );

/** For something that wasn't found: try the other identifier the caller gave, or start over. */
function lookElsewhere(refused: Refused): NextCall | undefined {
  const { call, view, tool, body } = refused;
  const { submissionId, resumeToken, intakeId, uploadId } = call.args as Record<string, string | undefined>;
  if (uploadId !== undefined && resumeToken !== undefined && body.error.type === "not_found") {
    return read(refused, "pendingUploads has the uploads that wait for their file.");
  }
  if (submissionId !== undefined && resumeToken !== undefined && !view.needsToken) {
    return named(refused, "status", { submissionId }, "Read it by id: the response has the current resumeToken.");
  }
  if (intakeId !== undefined) return otherIntake(refused, intakeId);
  return tool.suffix === "create" ? otherIntake(refused, call.intakeId ?? "") : startOver(refused);
}

function otherIntake(refused: Refused, intakeId: string): NextCall | undefined {
  const { view, tool, call } = refused;
  const meant = view.closestIntake(intakeId);
  if (meant === undefined) return startOver(refused);
  const note = `There is no intake ${intakeId}. Did you mean ${meant}?`;
  if (tool === getTool) return same(refused, { ...call.args, intakeId: meant }, note);
  const create = createOf(refused, meant);
  return create && { ...create, arguments: { ...without(call.args, "intakeId"), ...create.arguments }, note };
}

function createOf({ view }: Refused, intakeId: string): NextCall | undefined {
  const tool = view.nameOf("create", intakeId);
  if (tool === undefined) return undefined;
  const isOwn = tool === intakeToolName(intakeId, "create");
  return { tool, arguments: isOwn ? {} : { intakeId }, note: "Start a new submission." };
}

/** The first of the contract's next actions that the caller has a tool for. */
function byActions(refused: Refused): NextCall | undefined {
  for (const action of refused.body.error.nextActions ?? []) {
    const call = forAction(action, refused);
    if (call !== undefined) return call;
  }
  return undefined;
}

const read = (refused: Refused, note: string): NextCall | undefined => {
  const target = submissionIn(refused);
  return Object.keys(target).length === 0 ? undefined : named(refused, "status", target, note);
};

const WAIT_MS = 20_000;

function forAction(action: NextAction, refused: Refused): NextCall | undefined {
  const { field } = action;
  const target = submissionIn(refused);
  switch (action.action) {
    case "collect_field":
      return collect(refused);
    case "request_upload":
      return upload(action, refused);
    case "request_handoff": {
      const note = `Give the url in the response to a human${field === undefined ? "" : `, who fills in ${field}`}.`;
      return named(refused, "handoff", target, note);
    }
    case "wait_for_review":
      return named(refused, "status", { ...target, waitMs: WAIT_MS }, "Wait for the reviewer's decision.");
    case "fetch_current_state":
      return read(refused, "Read its current state.");
    case "create_new_submission":
      return startOver(refused);
    case "cancel":
      return named(refused, "cancel", target, "If it is no longer wanted.");
    case "reissue_token":
      return renewed(refused);
    case "retry_delivery":
      return named(refused, "retry", target, "Restart the delivery. You don't have to send anything again.");
  }
}

/** Needs the submission id and an API key; without a key a caller can't get a new token. */
function renewed(refused: Refused): NextCall | undefined {
  const { submissionId } = refused.body;
  if (submissionId === undefined || refused.view.needsToken) return undefined;
  return named(refused, "status", { submissionId }, "The response has a new resumeToken, if your key may hold it.");
}

const MAX_SUPPLIED = 40;

/** Sets all missing fields in one call, because each call would make the token of the others stale. */
function collect(refused: Refused): NextCall | undefined {
  const { body } = refused;
  const fields = (body.error.nextActions ?? [])
    .flatMap(({ action, field }) => (action === "collect_field" && field !== undefined ? [field] : []))
    .slice(0, MAX_SUPPLIED);
  const note = `Find out ${fields.slice(0, 10).join(", ")} and set ${fields.length === 1 ? "it" : "them"}.`;
  const call = named(refused, "set", { ...submissionIn(refused), fields: {} }, note);
  return call && { ...call, supply: fields.map((field) => `fields.${field}`) };
}

function upload({ field, uploadId }: NextAction, refused: Refused): NextCall | undefined {
  const target = submissionIn(refused);
  // Announce a file again if it could not be confirmed: its upload URL may be lost.
  if (uploadId !== undefined && refused.tool.suffix !== "confirm") {
    return named(refused, "confirm", { ...target, uploadId }, "Send the bytes to the upload's url, then confirm it.");
  }
  const call = named(refused, "upload", { ...target, field }, "Announce the file, send its bytes, then confirm it.");
  return call && { ...call, supply: ["filename", "mimeType", "sizeBytes"] };
}

/** The refusal doesn't blame the call itself, so propose reading what it was about. */
const again = (refused: Refused): NextCall | undefined =>
  refused.tool.suffix === "status" ? undefined : read(refused, "Read its current state.");

/** A new submission, of the same intake if that is known. */
function startOver(refused: Refused): NextCall | undefined {
  const { view, intakeId } = refused;
  const create = intakeId === undefined ? undefined : createOf(refused, intakeId);
  if (create !== undefined) return create;
  if (view.lists(listTool)) return { tool: listTool.generic, arguments: {}, note: "See what can be filled in here." };
  const creates = view.creates();
  const [any] = creates;
  if (any === undefined) return undefined;
  return { tool: any, arguments: {}, note: `Start a new submission: ${creates.join(", ")}.` };
}
