import type { ActorInput } from "@formbridge/contract";
import { type Caller, ContractError, type Operations } from "@formbridge/core";
import { errorAnswer } from "./answers/error-result.ts";
import { proposalFor } from "./answers/proposal.ts";
import { type ToolResult, toolResult } from "./answers/result.ts";
import { shortError } from "./answers/short.ts";
import type { CallerView } from "./catalog.ts";
import { AnsweredInstead, type HostSide } from "./human/host-side.ts";
import { guideOf } from "./schema/guide.ts";
import { checkArguments } from "./tools/check-arguments.ts";
import { genericToolName, intakeToolName } from "./tools/table.ts";
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
}

/** How a tool call walks: find the tool, check the arguments, call the operation, make the answer. Undefined: there is no such tool. */
export async function callTool(options: CallToolOptions): Promise<ToolResult | undefined> {
  const found = options.view.find(options.name);
  if (found === undefined) return undefined;
  const { tool, intake } = found;
  const { operations, caller, actor, signal, host } = options;
  const intakeId = intake?.definition.id;
  const call: ToolCall = {
    operations,
    caller,
    actor,
    signal,
    host,
    args: {},
    ...(intakeId !== undefined && { intakeId }),
  };
  try {
    const checked = { ...call, args: checkArguments(tool, options.args ?? {}, intakeId) };
    return await answered(tool, checked);
  } catch (cause) {
    if (cause instanceof AnsweredInstead) throw cause;
    const error = asContractError(cause, options);
    const schema = intake?.definition.schema;
    return await refused(error, { tool, call: { ...call, args: argsOf(options.args) }, schema });
  }
}

const argsOf = (args: unknown): Record<string, unknown> =>
  typeof args === "object" && args !== null && !Array.isArray(args) ? (args as Record<string, unknown>) : {};

async function answered(tool: Tool, call: ToolCall): Promise<ToolResult> {
  const { body, definition, replayOf } = await tool.call(call);
  const whole = body as Record<string, unknown>;
  const guide = definition === undefined ? undefined : guideOf(definition.schema);
  return toolResult(call.args.verbose === true ? whole : tool.short(whole, guide), {
    replayed: replayOf !== undefined,
  });
}

async function refused(
  error: ContractError,
  { tool, call, schema }: { tool: Tool; call: ToolCall; schema: Record<string, unknown> | undefined },
): Promise<ToolResult> {
  const { intakeId } = call;
  const body = errorAnswer(error, {
    tool: (suffix) => (intakeId === undefined ? genericToolName(suffix) : intakeToolName(intakeId, suffix)),
    ...(schema && { guide: guideOf(schema) }),
  });
  // The form finds its own way on, from the whole of it.
  if (tool.suffix === undefined) return toolResult({ ...body }, { isError: true });
  const proposal = await proposalFor(tool, call, body);
  const told = call.args.verbose === true ? body : shortError(body);
  const whole = proposal === undefined ? told : { ...told, error: { ...told.error, proposal } };
  return toolResult({ ...whole }, { isError: true, replayed: error.about.replayOf !== undefined });
}

/** What is not ours is our mistake: it is logged, and the caller is told no more than that. */
function asContractError(cause: unknown, { onError }: CallToolOptions): ContractError {
  if (cause instanceof ContractError) {
    if (cause.type === "service_unavailable" && cause.cause !== undefined) onError(cause.cause);
    return cause;
  }
  onError(cause);
  return new ContractError("internal_error", "Something went wrong on our side; it was logged.", { cause });
}
