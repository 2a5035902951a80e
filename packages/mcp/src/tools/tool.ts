import type { ActorInput } from "@formbridge/contract";
import type { Caller, OperationResponse, Operations, Target } from "@formbridge/core";
import type { TObject } from "typebox";
import type { Picture } from "../answers/result.ts";
import type { HostSide } from "../human/host-side.ts";
import type { Guide } from "../schema/guide.ts";

/** A call whose arguments were checked. */
export interface ToolCall {
  operations: Operations;
  caller: Caller;
  args: Readonly<Record<string, unknown>>;
  /** The tool's intake; absent for generic tools. */
  intakeId?: string;
  /** The actor, if neither the arguments nor an API key name one. */
  actor: ActorInput;
  /** Aborted when the client gave up. What has begun is still finished. */
  signal: AbortSignal;
  /** What the host can ask its user meanwhile. */
  host: HostSide;
}

export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export const READS: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
/** A write that destroys nothing and has no effect outside of the server. */
export const WRITES: Annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};

/** What a description may refer to. */
export interface Words {
  /** The tool's intake; absent for generic tools. */
  intake?: { id: string; name: string; description?: string };
  /** A resume token's time to live, in words; absent for generic tools, since it depends on the intake. */
  tokenLife?: string;
  /** How long a new submission stays open, in words; absent for generic tools. */
  openFor?: string;
  /** Another tool's name in this caller's list. */
  tool(suffix: Suffix): string;
}

const SUFFIXES = [
  "create",
  "set",
  "validate",
  "upload",
  "confirm",
  "submit",
  "status",
  "events",
  "handoff",
  "cancel",
  "review",
  "retry",
] as const;
export type Suffix = (typeof SUFFIXES)[number];

/** One row of the tool table: name, arguments, operation, and how its response is shortened. */
export interface Tool {
  /** The name for one intake is `formbridge_{intakeId}_{suffix}`. Absent if there is only the generic tool. */
  suffix?: Suffix;
  /** The name of the generic tool. */
  generic: string;
  /** If absent: readers for a tool that only reads, else writers. */
  audience?: "reviewers";
  title: string;
  annotations: Annotations;
  /** The argument schema from the contract. */
  args: TObject;
  required: readonly string[];
  /** The argument that holds field values. */
  fieldsIn?: "fields" | "initialFields";
  /** The argument that names a file field. */
  fileFieldIn?: "field";
  /**
   * Whether a call with these arguments talks to the client while it runs (asks, reports progress), which needs the
   * SDK.
   */
  converses?(args: Readonly<Record<string, unknown>>): boolean;
  output: TObject;
  /** Additional `_meta` for hosts. */
  meta?: Readonly<Record<string, unknown>>;
  describe(words: Words): string;
  call(call: ToolCall): Promise<OperationResponse<object>>;
  /** The parts that a model needs; `verbose` returns the rest. */
  short(body: Record<string, unknown>, guide: Guide | undefined): Record<string, unknown>;
  /** Images in a response, which are then removed from it. */
  images?(body: Record<string, unknown>): Picture[];
  withoutImages?(body: Record<string, unknown>): Record<string, unknown>;
}

/** The submission identified by the arguments. */
export function targetOf({ args, intakeId }: ToolCall): Target {
  const { submissionId, resumeToken, version } = args as {
    submissionId?: string;
    resumeToken?: string;
    version?: number;
  };
  return {
    tokens: resumeToken === undefined ? [] : [resumeToken],
    versions: version === undefined ? [] : [version],
    ...(submissionId !== undefined && { submissionId }),
    ...(intakeId !== undefined && { intakeId }),
  };
}

/** An API key or session determines the recorded actor; a bare token doesn't. */
export function actorOf({ args, caller, actor }: ToolCall): { actor?: ActorInput } {
  if (args.actor !== undefined) return { actor: args.actor as ActorInput };
  return caller.apiKey === undefined && caller.session === undefined ? { actor } : {};
}

export const writeCall = (call: ToolCall) => {
  const { idempotencyKey } = call.args as { idempotencyKey?: string };
  return {
    caller: call.caller,
    target: targetOf(call),
    ...actorOf(call),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
};

/** Picks the named properties that exist, in this order. */
export function pick<From extends object, Name extends keyof From>(
  from: From,
  names: readonly Name[],
): Pick<From, Name> {
  const found = names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]);
  return Object.fromEntries(found) as Pick<From, Name>;
}

/** What every short response about a submission contains. */
export const MARK = [
  "ok",
  "submissionId",
  "state",
  "version",
  "resumeToken",
  "resumeUrl",
  "tokenExpiresAt",
  "warning",
  "deliveryState",
  "_idempotent",
];
