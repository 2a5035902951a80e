import { type Caller, toIso } from "@formbridge/core";
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";
import type { ToolResult } from "../answers/result.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { createRequestStates, type Seal } from "./request-state.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const LIFE_MS = 86_400_000;
const POLL_INTERVAL_MS = 5_000;

/** A wait that goes on without a line: what was asked, and how the submission stood then. */
export interface Wait {
  name: string;
  args: Record<string, unknown>;
  version: unknown;
  state: unknown;
}

/**
 * Waits as tasks. Nothing is kept of them: the task's id holds, sealed for its caller, what is waited for, and the submission itself
 * tells whether it has come. So every instance knows every task, also after a restart.
 */
export interface Tasks {
  /** The answer to a call that begins a wait. */
  begin(wait: Wait, caller: Caller): Record<string, unknown>;
  /** How it stands. `look` makes the call again, without waiting. */
  get(taskId: string, caller: Caller, look: (wait: Wait) => Promise<ToolResult>): Promise<Record<string, unknown>>;
  /** Throws when this caller has no such task. */
  check(taskId: string, caller: Caller): void;
}

/** What is done for those who ask about a task. */
interface TaskAnswers {
  get(params: { taskId: string }, context: ServerContext): Promise<Record<string, unknown>>;
  check(params: { taskId: string }): Promise<void>;
}

export function serveTasks(server: Server, answers: TaskAnswers): void {
  server.setRequestHandler("tasks/get", { params: TASK_PARAMS }, async (params, context) => {
    requireTasks(server, context);
    return await answers.get(params, context);
  });
  // A wait asks for nothing, and costs nothing while nobody looks: there is nothing to answer, and nothing to stop.
  for (const method of ["tasks/update", "tasks/cancel"]) {
    server.setRequestHandler(method, { params: TASK_PARAMS }, async (params, context) => {
      requireTasks(server, context);
      await answers.check(params);
      return {};
    });
  }
}

type Kept = Wait & { at: number };

export function createTasks(seal: Seal, now: () => number): Tasks {
  const notes = createRequestStates(seal, { now, lifeMs: LIFE_MS });
  const boundTo = (caller: Caller) => ({ caller, request: { name: "tasks", args: {} } });
  const taskOf = ({ at }: { at: number }, taskId: string) => ({
    taskId,
    createdAt: toIso(at),
    lastUpdatedAt: toIso(now()),
    ttlMs: LIFE_MS,
    pollIntervalMs: POLL_INTERVAL_MS,
  });
  const find = (taskId: string, caller: Caller): Kept => {
    try {
      return notes.open(taskId, boundTo(caller)) as unknown as Kept;
    } catch {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task, or its time is over.");
    }
  };
  return {
    begin(wait, caller) {
      const kept = { ...wait, at: now() };
      return { resultType: "task", status: "working", ...taskOf(kept, notes.seal(kept, boundTo(caller))) };
    },
    async get(taskId, caller, look) {
      const kept = find(taskId, caller);
      const task = taskOf(kept, taskId);
      const result = await look(kept);
      const { version, state } = result.structuredContent;
      const isSame = result.isError !== true && version === kept.version && state === kept.state;
      if (isSame) return { ...task, status: "working" };
      return { ...task, status: "completed", result: { resultType: "complete", ...result } };
    },
    check(taskId, caller) {
      find(taskId, caller);
    },
  };
}

/** Does this call's client take a task for an answer? Only revisions in which a call says so itself have tasks of this kind. */
export const takesTasks = (server: Server, context: ServerContext): boolean =>
  context.mcpReq.envelope !== undefined && capabilitiesOf(server, context)?.extensions?.[TASKS_EXTENSION] !== undefined;

function requireTasks(server: Server, context: ServerContext): void {
  if (takesTasks(server, context)) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}

const TASK_PARAMS: StandardSchemaV1<unknown, { taskId: string }> = {
  "~standard": {
    version: 1,
    vendor: "formbridge",
    validate(given) {
      const { taskId } = (given ?? {}) as { taskId?: unknown };
      return typeof taskId === "string" ? { value: { taskId } } : { issues: [{ message: "taskId must be a string" }] };
    },
  },
};
