import type { Loose } from "../support/harness.ts";

/** What an agent can do with an intake. Over MCP each is a tool, over HTTP a path. */
export const ACTIONS = [
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
export type Action = (typeof ACTIONS)[number];

/** The arguments of an action, by the contract's names; `fields` are also those that a create starts with. */
export interface ActionArguments {
  resumeToken?: string;
  submissionId?: string;
  version?: number;
  fields?: Record<string, unknown>;
  actor?: { kind: "agent" | "human"; id: string };
  idempotencyKey?: string;
  ttlMs?: number;
  reason?: string;
  kind?: string;
  expiresInMs?: number;
  message?: string;
  field?: string;
  filename?: string;
  mimeType?: string;
  sizeBytes?: number;
  uploadId?: string;
  limit?: number;
  afterEventId?: string;
}

export interface Answer {
  /** The contract's envelope, of a success or of an error. */
  body: Loose;
  isError: boolean;
  /** Whether this is the recorded response of an earlier call with the same key. */
  replayed: boolean;
}

/** Makes the calls of one agent. A scene that is played with two drivers must end the same. */
export interface Driver {
  readonly name: string;
  call(intakeId: string, action: Action, args: ActionArguments): Promise<Answer>;
  close(): Promise<void>;
}
