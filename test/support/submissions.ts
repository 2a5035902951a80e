import { expect } from "vitest";
import type { CallOptions, Loose, Reply, TestServer } from "./harness.ts";

/** Building blocks of most tests: create, fill in, submit, and read back. */
export const AGENT = { kind: "agent", id: "bot" } as const;
export const HUMAN = { kind: "human", id: "ada" } as const;
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface CreateOptions {
  fields?: Record<string, unknown>;
  actor?: Record<string, unknown>;
  ttlMs?: number;
  key?: string;
}

/** Creates a submission and returns the body: ids, token, version. */
export async function create(server: TestServer, intakeId: string, options: CreateOptions = {}): Promise<Loose> {
  const { fields, ttlMs, key, actor = key === undefined ? AGENT : undefined } = options;
  const reply = await server.call("POST", `/intakes/${intakeId}/submissions`, {
    ...(key !== undefined && { key }),
    body: {
      ...(actor && { actor }),
      ...(fields && { initialFields: fields }),
      ...(ttlMs !== undefined && { ttlMs }),
    },
  });
  if (reply.status !== 201) throw new Error(`not created: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

type Fields = Record<string, unknown>;

export const setFields = (
  server: TestServer,
  token: string,
  fields: Fields,
  options: CallOptions = {},
): Promise<Reply> =>
  server.call("PATCH", `/resume/${token}`, {
    ...options,
    body: { fields, ...(options.key === undefined && { actor: AGENT }), ...(options.body as object) },
  });

/** Sets fields, expects success, and returns the body. */
export async function filled(server: TestServer, token: string, fields: Fields, options?: CallOptions): Promise<Loose> {
  const reply = await setFields(server, token, fields, options);
  if (reply.status !== 200) throw new Error(`not set: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

let submits = 0;
export const submit = (server: TestServer, token: string, options: CallOptions = {}): Promise<Reply> =>
  server.call("POST", `/resume/${token}/submit`, {
    ...options,
    body: { idempotencyKey: `submit-${++submits}`, actor: AGENT, ...(options.body as object) },
  });

/** A submitted submission, in the state that its intake leads to. */
export async function submitted(server: TestServer, intakeId: string, options: CreateOptions = {}): Promise<Loose> {
  const made = await create(server, intakeId, { fields: { name: "Ada" }, ...options });
  const reply = await submit(server, made.resumeToken);
  if (reply.status !== 200) throw new Error(`not submitted: ${reply.status} ${JSON.stringify(reply.body)}`);
  return { ...reply.body, firstToken: made.resumeToken };
}

/** The record as an admin reads it by id. */
export async function record(server: TestServer, submissionId: string): Promise<Loose> {
  const reply = await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey });
  expect(reply.status).toBe(200);
  return reply.body;
}

/** The submission stream, as an admin reads it by id. */
export async function history(server: TestServer, submissionId: string): Promise<Loose[]> {
  const reply = await server.call("GET", `/submissions/${submissionId}/events?limit=1000`, { key: server.adminKey });
  expect(reply.status).toBe(200);
  return reply.body.events;
}

export const eventTypes = async (server: TestServer, submissionId: string): Promise<string[]> =>
  (await history(server, submissionId)).map((event) => event.type);

/** Makes a call that must change neither the record nor the history. */
export async function unchangedBy(server: TestServer, submissionId: string, act: () => Promise<Reply>): Promise<Reply> {
  const before = { record: await record(server, submissionId), events: await history(server, submissionId) };
  const reply = await act();
  expect({ record: await record(server, submissionId), events: await history(server, submissionId) }).toEqual(before);
  return reply;
}

/** Expects a refusal with the contract's envelope. */
export function expectError(reply: Reply, status: number, type: string): Loose {
  expect({ status: reply.status, ok: reply.body.ok, type: reply.body.error?.type }).toEqual({
    status,
    ok: false,
    type,
  });
  expect(typeof reply.body.error.message).toBe("string");
  expect(typeof reply.body.error.retryable).toBe("boolean");
  return reply.body.error;
}

/** The whole response as text, to search for what it must not contain. */
export const allOf = (reply: Reply): string => JSON.stringify([reply.body, reply.headers]);

/** Expects no token in body or headers. */
export const expectNoToken = (reply: Reply): void => expect(allOf(reply)).not.toContain("rtok_");

/** Expects a 410 according to the contract: with its type, and without a token. */
export function expectGone(reply: Reply, type: string): Loose {
  const error = expectError(reply, 410, type);
  expectNoToken(reply);
  return error;
}
