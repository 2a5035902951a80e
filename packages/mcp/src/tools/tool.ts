import type { ActorInput } from "@formbridge/contract";
import type { Answer, Caller, Operations, Target } from "@formbridge/core";
import type { TObject } from "typebox";
import type { HostSide } from "../human/host-side.ts";
import type { Guide } from "../schema/guide.ts";

/** A call after its arguments were checked. */
export interface ToolCall {
  operations: Operations;
  caller: Caller;
  args: Readonly<Record<string, unknown>>;
  /** The intake that the tool belongs to; absent for the generic ones. */
  intakeId?: string;
  /** Who acts, when neither the arguments nor a key say so. */
  actor: ActorInput;
  /** Aborted when the client gave up. What was begun is finished all the same. */
  signal: AbortSignal;
  /** What the host can do for its person meanwhile. */
  host: HostSide;
}

export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** What a description may refer to. */
export interface Words {
  /** Of which intake: its name, and what it says of itself; absent for the generic tools. */
  intake?: { id: string; name: string; description?: string };
  /** How long a resume token lives, in words. */
  tokenLife: string;
  /** The name under which this caller finds another tool. */
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
] as const;
export type Suffix = (typeof SUFFIXES)[number];

/** One tool: what it is called, what it takes, which operation it is, and how its answer is made short. */
export interface Tool {
  /** As a tool of one intake: `formbridge_{intakeId}_{suffix}`. Absent: there is only the generic one. */
  suffix?: Suffix;
  generic: string;
  title: string;
  annotations: Annotations;
  /** What it takes, by the contract. */
  args: TObject;
  required: readonly string[];
  /** The argument that holds values of the intake's fields. */
  fieldsIn?: "fields" | "initialFields";
  /** The argument that names a file field. */
  fileFieldIn?: "field";
  /** Does a call with these arguments speak with the client while it runs (ask, tell how far it is)? That needs the protocol's own way. */
  converses?(args: Readonly<Record<string, unknown>>): boolean;
  output: TObject;
  /** What hosts are told besides, as `_meta`. */
  meta?: Readonly<Record<string, unknown>>;
  describe(words: Words): string;
  call(call: ToolCall): Promise<Answer<object>>;
  /** The parts that a model needs; the rest comes with `verbose`. */
  short(body: Record<string, unknown>, guide: Guide | undefined): Record<string, unknown>;
}

/** The submission that the arguments name. */
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

/** With a key or a session the recorded actor is theirs; only a bare token leaves the question open. */
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

/** The named parts of a body, in this order, where they are there. */
export const pick = (body: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));

/** What a short answer about a submission always has. */
export const MARK = [
  "ok",
  "submissionId",
  "state",
  "version",
  "resumeToken",
  "tokenExpiresAt",
  "warning",
  "_idempotent",
];
