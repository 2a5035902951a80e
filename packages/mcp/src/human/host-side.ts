import { type Caller, isObject } from "@formbridge/core";
import {
  type CallToolResult,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { capabilitiesOf } from "./capabilities.ts";
import type { RequestStates } from "./request-state.ts";
import { type Tasks, takesTasks } from "./tasks.ts";

/** What the user is asked: to fill in a few values, or to open a page. */
export type Question =
  | { mode: "form"; message: string; schema: ElicitRequestFormParams["requestedSchema"] }
  | { mode: "url"; message: string; url: string };

/** What became of a question. `unanswered`: the host lost it or took too long. */
export interface Reply {
  action: "accept" | "decline" | "cancel" | "unanswered";
  content?: Record<string, unknown>;
}

/** The host behind a call: what it can ask its user, and how it learns about progress. */
export interface HostSide {
  can(mode: Question["mode"]): boolean;
  /** What an earlier round of this call has kept; undefined in the first round. */
  kept: Record<string, unknown> | undefined;
  /**
   * Asks the user. In revisions where the server can't send requests, the call ends here (`AnsweredInstead`) and is
   * repeated with the reply; `keep` carries over what must not be done twice.
   */
  ask(question: Question, keep: Record<string, unknown>): Promise<Reply>;
  /** Ends the call with a task handle for the wait, if the client supports tasks. */
  waitAsTask(submission: { version: number; state: string; completedHandoff?: unknown }): void;
  /** Reports progress if the caller asked for it. */
  progress(message: string): void;
  /** Whether the client accepts a task as a result. */
  takesTasks: boolean;
  /** Aborted when the server stops, so that waiting calls return. */
  stopping: AbortSignal;
}

/** Not an error: ends the call with something other than the tool's result. */
export class AnsweredInstead extends Error {
  readonly result: InputRequiredResult | CallToolResult;
  constructor(result: InputRequiredResult | CallToolResult) {
    super("answered instead");
    this.result = result;
  }
}

/** For calls that are answered at once. */
export const NO_HOST: HostSide = {
  can: () => false,
  kept: undefined,
  ask: async () => ({ action: "unanswered" }),
  takesTasks: false,
  waitAsTask: () => {},
  progress: () => {},
  stopping: new AbortController().signal,
};

/** The key of the only question in a call. */
const KEY = "person";

export interface HostCall {
  server: Server;
  context: ServerContext;
  caller: Caller;
  states: RequestStates;
  tasks: Tasks;
  stopping: AbortSignal;
  /** How long to wait for the reply to a question on an open connection. */
  askTimeoutMs: number;
  /** A `requestState` is valid only for this call with these arguments. */
  request: { name: string; args: unknown };
}

export function hostSide(call: HostCall): HostSide {
  const { server, context, states, stopping } = call;
  const { mcpReq } = context;
  const isModern = mcpReq.envelope !== undefined;
  const capabilities = capabilitiesOf(server, context);
  const sealed = mcpReq.requestState<string>();
  const kept = sealed === undefined ? undefined : states.open(sealed, call);
  let count = 0;
  return {
    kept,
    stopping,
    can: (mode) => canElicit(capabilities, mode),
    async ask(question, keep) {
      if (!isModern) return await askNow(context, question, call.askTimeoutMs);
      const reply = kept === undefined ? undefined : replyOf(mcpReq.inputResponses?.[KEY]);
      if (reply !== undefined) return reply;
      throw new AnsweredInstead(
        inputRequired({ inputRequests: { [KEY]: requestOf(question) }, requestState: states.seal(keep, call) }),
      );
    },
    takesTasks: takesTasks(server, context),
    waitAsTask({ version, state, completedHandoff }) {
      const { name, args } = call.request;
      const seen = { version, state, ...(completedHandoff !== undefined && { completedHandoff }) };
      const wait = { name, args: (args ?? {}) as Record<string, unknown>, ...seen };
      throw new AnsweredInstead(call.tasks.begin(wait, call.caller) as CallToolResult);
    },
    progress(message) {
      const { progressToken } = mcpReq._meta ?? {};
      if (progressToken === undefined) return;
      const params = { progressToken, progress: ++count, message };
      // A client that can't be reached is gone; the call ends by its own signal.
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
    },
  };
}

/** An `elicitation` capability without modes means forms. */
function canElicit(capabilities: ClientCapabilities | undefined, mode: Question["mode"]): boolean {
  const elicitation = capabilities?.elicitation;
  if (elicitation === undefined) return false;
  return mode === "url"
    ? elicitation.url !== undefined
    : elicitation.form !== undefined || elicitation.url === undefined;
}

const requestOf = (question: Question) =>
  question.mode === "url"
    ? inputRequired.elicitUrl({ message: question.message, url: question.url })
    : inputRequired.elicit({ message: question.message, requestedSchema: question.schema });

/** Sends a request on the open connection. Without a response in time, only the answer is missing. */
async function askNow({ mcpReq }: ServerContext, question: Question, timeout: number): Promise<Reply> {
  const params =
    question.mode === "url"
      ? { mode: "url" as const, message: question.message, url: question.url, elicitationId: crypto.randomUUID() }
      : { mode: "form" as const, message: question.message, requestedSchema: question.schema };
  try {
    const given = await mcpReq.elicitInput(params, { timeout, signal: mcpReq.signal });
    return replyOf(given) ?? { action: "unanswered" };
  } catch {
    return { action: "unanswered" };
  }
}

/** The response is untrusted: anything that isn't a valid reply counts as none. */
function replyOf(given: unknown): Reply | undefined {
  if (!isObject(given)) return undefined;
  const { action, content } = given;
  if (action === "decline" || action === "cancel") return { action };
  if (action !== "accept") return undefined;
  return { action, ...(isObject(content) && { content }) };
}
