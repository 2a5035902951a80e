import type { ActorInput } from "@formbridge/contract";
import { type Caller, ContractError, errorBody, internalError, isObject, type Operations } from "@formbridge/core";
import { refusal } from "./answers/refusal.ts";
import { type ToolResult, toolResult } from "./answers/result.ts";
import type { CallerView } from "./catalog.ts";
import { formTool } from "./form/form-tool.ts";
import { AnsweredInstead, type HostSide } from "./human/host-side.ts";
import { guideOf } from "./schema/guide.ts";
import { checkArguments } from "./tools/check-arguments.ts";
import type { Tool, ToolCall } from "./tools/tool.ts";

export interface CallToolOptions {
  operations: Operations;
  caller: Caller;
  view: CallerView;
  name: string;
  args: unknown;
  actor: ActorInput;
  signal: AbortSignal;
  host: HostSide;
  onError(error: unknown): void;
  onCall?: OnCall | undefined;
  /** Runs a call as a span of a trace. */
  inSpan?: InSpan | undefined;
}

export type InSpan = <T>(name: string, work: () => Promise<T>, from: { parent?: string | undefined }) => Promise<T>;

/** Called on every call, with the tool's generic name. */
export type OnCall = (call: { tool: string; outcome: "success" | "error"; ms: number }) => void;

/**
 * Finds the tool, checks the arguments, calls the operation and builds the result. Returns undefined if there is no
 * such tool.
 */
export async function callTool(options: CallToolOptions): Promise<ToolResult | undefined> {
  const found = options.view.find(options.name);
  if (found === undefined) return undefined;
  const { tool } = found;
  const began = performance.now();
  const run = () => callFound(options, found);
  const { inSpan, caller } = options;
  const result = await (inSpan === undefined
    ? run()
    : inSpan(`tool ${tool.generic}`, run, { parent: caller.traceparent }));
  const outcome = result.isError === true ? "error" : "success";
  options.onCall?.({ tool: tool.generic, outcome, ms: performance.now() - began });
  return result;
}

type FoundTool = NonNullable<ReturnType<CallerView["find"]>>;

async function callFound(options: CallToolOptions, { tool, intake }: FoundTool): Promise<ToolResult> {
  const { operations, caller, actor, signal, host } = options;
  const intakeId = intake?.definition.id;
  const call: ToolCall = {
    operations,
    caller: { ...caller, forModel: true },
    actor,
    signal,
    host,
    args: {},
    ...(intakeId !== undefined && { intakeId }),
  };
  try {
    const checked = { ...call, args: checkArguments(tool, options.args ?? {}, intakeId) };
    requireSubmission(tool, checked, options.view);
    return await answered(tool, checked);
  } catch (cause) {
    if (cause instanceof AnsweredInstead) throw cause;
    const error = asContractError(cause, options);
    const met = { ...call, args: isObject(options.args) ? options.args : {} };
    // The form decides what to do next itself, so it gets the whole error.
    return tool === formTool
      ? toolResult({ ...errorBody(error) }, { isError: true })
      : await refusal(error, { tool, call: met, view: options.view });
  }
}

/** A call about a submission must identify it in a way that this caller can use; a session implies its own. */
function requireSubmission(tool: Tool, { caller, args }: ToolCall, view: CallerView): void {
  const isAbout = Object.hasOwn(tool.args.properties, "resumeToken") && caller.session === undefined;
  if (!isAbout || args.resumeToken !== undefined) return;
  if (view.needsToken) {
    throw new ContractError(
      "token_required",
      "resumeToken is missing: send the one from the latest response about the submission.",
    );
  }
  if (args.submissionId !== undefined) return;
  const words =
    "The call has neither resumeToken nor submissionId. Send the resumeToken of the latest response about the submission.";
  throw new ContractError("token_required", words);
}

async function answered(tool: Tool, call: ToolCall): Promise<ToolResult> {
  const { body, definition, replayOf } = await tool.call(call);
  const { images, withoutImages } = tool;
  const pictures = images?.(body as Record<string, unknown>) ?? [];
  const whole = withoutImages?.(body as Record<string, unknown>) ?? (body as Record<string, unknown>);
  const guide = definition === undefined ? undefined : guideOf(definition.schema);
  return toolResult(call.args.verbose === true ? whole : tool.short(whole, guide), {
    replayed: replayOf !== undefined,
    pictures,
  });
}

function asContractError(cause: unknown, { onError }: CallToolOptions): ContractError {
  if (cause instanceof ContractError) {
    if (cause.type === "service_unavailable" && cause.cause !== undefined) onError(cause.cause);
    return cause;
  }
  onError(cause);
  return internalError(cause);
}
