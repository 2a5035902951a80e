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

/** What is put before the person: a few values to fill in, or a page to open. */
export type Question =
  | { mode: "form"; message: string; schema: ElicitRequestFormParams["requestedSchema"] }
  | { mode: "url"; message: string; url: string };

/** What became of a question. `unanswered`: the host lost it, or took too long. */
export interface Reply {
  action: "accept" | "decline" | "cancel" | "unanswered";
  content?: Record<string, unknown>;
}

/** The host behind a call: what it can put before its person, and how it is told that a call goes on. */
export interface HostSide {
  can(mode: Question["mode"]): boolean;
  /** What an earlier round of this call has kept; undefined in the first. */
  kept: Record<string, unknown> | undefined;
  /**
   * Asks the person. In revisions without requests from the server the call ends here (`AnsweredInstead`), and comes again with the
   * reply: what must not be done twice is in `keep`.
   */
  ask(question: Question, keep: Record<string, unknown>): Promise<Reply>;
  /** Ends the call with the handle of a wait, where the client takes one. */
  waitAsTask(submission: { version: number; state: string }): void;
  /** Tells a caller who wants to know that the call goes on. */
  progress(message: string): void;
  /** Does the client take a task for an answer? */
  takesTasks: boolean;
  /** Aborted when the server stops: whoever waits is answered. */
  stopping: AbortSignal;
}

/** Not an error: this call is answered with something else than its tool's answer. */
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

/** The one question of a call. */
const KEY = "person";

export interface HostCall {
  server: Server;
  context: ServerContext;
  caller: Caller;
  states: RequestStates;
  tasks: Tasks;
  stopping: AbortSignal;
  /** How long a question on an open line waits for its reply. */
  askTimeoutMs: number;
  /** What a `requestState` is good for: this call, with these arguments. */
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
    waitAsTask({ version, state }) {
      const { name, args } = call.request;
      const wait = { name, args: (args ?? {}) as Record<string, unknown>, version, state };
      throw new AnsweredInstead(call.tasks.begin(wait, call.caller) as CallToolResult);
    },
    progress(message) {
      const { progressToken } = mcpReq._meta ?? {};
      if (progressToken === undefined) return;
      const params = { progressToken, progress: ++count, message };
      // Whoever can't be told is not there any more; the call ends by its own signal.
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
    },
  };
}

/** An `elicitation` that names no mode is one of forms. */
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

/** A request of ours on the open line. One that gets no answer in time costs nothing but the answer. */
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

/** What comes back is the client's word: anything that is no reply counts as none. */
function replyOf(given: unknown): Reply | undefined {
  if (!isObject(given)) return undefined;
  const { action, content } = given;
  if (action === "decline" || action === "cancel") return { action };
  if (action !== "accept") return undefined;
  return { action, ...(isObject(content) && { content }) };
}
