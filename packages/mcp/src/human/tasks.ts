import { type Caller, toIso } from "@formbridge/core";
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ToolResult } from "../answers/result.ts";
import { TASK_PARAMS } from "../params.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { createRequestStates, type Seal } from "./request-state.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const LIFE_MS = 86_400_000;
const POLL_INTERVAL_MS = 5_000;

/** A wait that continues without a connection: the call, and the submission's state at that time. */
export interface Wait {
  name: string;
  args: Record<string, unknown>;
  version: unknown;
  state: unknown;
  /** The last completed hand-off. */
  completedHandoff?: unknown;
}

/**
 * Waits as MCP tasks. Nothing is stored: the task id contains what is waited for, sealed for its caller, and the
 * submission shows whether it has happened. So every instance knows every task, even after a restart.
 */
export interface Tasks {
  /** The response to a call that begins a wait. */
  begin(wait: Wait, caller: Caller): Record<string, unknown>;
  /** The task's status. `look` repeats the call without waiting. */
  get(taskId: string, caller: Caller, look: (wait: Wait) => Promise<ToolResult>): Promise<Record<string, unknown>>;
  /** Throws if this caller has no such task. */
  check(taskId: string, caller: Caller): void;
}

/** The handlers for the task methods. */
interface TaskAnswers {
  get(params: { taskId: string }, context: ServerContext): Promise<Record<string, unknown>>;
  check(params: { taskId: string }): Promise<void>;
}

export function serveTasks(server: Server, answers: TaskAnswers): void {
  server.setRequestHandler("tasks/get", { params: TASK_PARAMS }, async (params, context) => {
    requireTasks(server, context);
    return await answers.get(params, context);
  });
  // A wait takes no input and costs nothing between polls, so there is nothing to update or cancel.
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
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "This task doesn't exist, or it has expired.");
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
      const { version, state, completedHandoff } = result.structuredContent;
      const isDone = JSON.stringify(completedHandoff) !== JSON.stringify(kept.completedHandoff);
      const isSame = result.isError !== true && version === kept.version && state === kept.state && !isDone;
      if (isSame) return { ...task, status: "working" };
      return { ...task, status: "completed", result: { resultType: "complete", ...result } };
    },
    check(taskId, caller) {
      find(taskId, caller);
    },
  };
}

/**
 * Whether this call's client accepts a task as a result. Only revisions in which each call says so have tasks of this
 * kind.
 */
export const takesTasks = (server: Server, context: ServerContext): boolean =>
  context.mcpReq.envelope !== undefined && capabilitiesOf(server, context)?.extensions?.[TASKS_EXTENSION] !== undefined;

function requireTasks(server: Server, context: ServerContext): void {
  if (takesTasks(server, context)) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}
