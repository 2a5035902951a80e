import { connect } from "node:net";
import { expect } from "vitest";
import type { Loose, Reply, TestServer } from "./harness.ts";

export const AGENT = { kind: "agent", id: "bot" } as const;
export const HUMAN = { kind: "human", id: "ada" } as const;

/** Padded to the length required of callers without an API key. */
export const idempotencyKey = (name: string): string => name.padEnd(32, "-");

type Caller = Pick<TestServer, "call">;

export interface Move {
  key?: string;
  headers?: Record<string, string>;
  /** Merged into the default body. */
  body?: Record<string, unknown>;
}

const options = (body: Record<string, unknown>, { key, headers = {}, body: over }: Move) => ({
  body: { ...body, ...over },
  headers,
  ...(key !== undefined && { key }),
});

/** Creates a submission; the actor is declared unless an API key is given. */
export const create = (server: Caller, intakeId: string, move: Move = {}): Promise<Reply> =>
  server.call(
    "POST",
    `/intakes/${intakeId}/submissions`,
    options(move.key === undefined ? { actor: AGENT } : {}, move),
  );

/** A create that must succeed; returns its body. */
export async function created(server: Caller, intakeId: string, move: Move = {}): Promise<Loose> {
  const reply = await create(server, intakeId, move);
  if (reply.status !== 201) throw new Error(`not created: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

export const setFields = (
  server: Caller,
  token: string,
  fields: Record<string, unknown>,
  move: Move = {},
): Promise<Reply> =>
  server.call("PATCH", `/resume/${token}/fields`, options({ ...(!move.key && { actor: AGENT }), fields }, move));

export const submit = (server: Caller, token: string, key: string, move: Move = {}): Promise<Reply> =>
  server.call(
    "POST",
    `/resume/${token}/submit`,
    options({ ...(!move.key && { actor: AGENT }), idempotencyKey: key }, move),
  );

export const read = (server: Caller, id: string, key: string): Promise<Reply> =>
  server.call("GET", `/submissions/${id}`, { key });

/** A submission's events, read by id with an API key. */
export async function eventsOf(
  server: Caller & Pick<TestServer, "adminKey">,
  id: string,
  query = "stream=all&limit=1000",
): Promise<Loose[]> {
  const reply = await server.call("GET", `/submissions/${id}/events?${query}`, { key: server.adminKey });
  if (reply.status !== 200) throw new Error(`no events: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.events;
}

export const typesOf = (events: Loose[]): string[] => events.map((event) => event.type as string);

/** Sends bytes to the server and returns everything until it closes, for what no HTTP client would send. */
export function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (part) => parts.push(part));
    socket.on("error", (error: NodeJS.ErrnoException) => (error.code === "ECONNRESET" ? undefined : reject(error)));
    socket.on("close", () => resolve(Buffer.concat(parts).toString("utf8")));
  });
}

/** A parsed raw response. */
export function parseRaw(text: string): Reply {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = rest.join("\r\n\r\n");
  const isJson = headers["content-type"]?.startsWith("application/json") ?? false;
  return { status: Number(first.split(" ")[1]), headers, body: isJson ? JSON.parse(body) : body };
}

/** A promise that is resolved from outside, to hold something up on purpose. */
export function createLatch(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Polls until the result is defined, or the deadline passes. */
export async function until<T>(ask: () => T | undefined | Promise<T | undefined>, deadlineMs = 15_000): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = await ask();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`nothing came within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Everything that a refused request could have changed. */
export async function everything(server: TestServer): Promise<unknown> {
  const paths = [
    "/submissions?limit=1000&fields=true",
    "/events?stream=all&limit=1000",
    "/intakes?limit=1000",
    "/keys?limit=1000",
    "/webhooks?limit=1000",
  ];
  const replies = await Promise.all(paths.map((path) => server.call("GET", path, { key: server.adminKey })));
  return replies.map(({ body }) => body.items);
}

/** Expects the contract's error envelope as JSON. */
export function expectRefusal(reply: Reply, status: number, type: string): void {
  expect([reply.status, reply.body.error?.type]).toEqual([status, type]);
  expect(reply.headers["content-type"]).toMatch(/^application\/json/);
  expect(reply.body).toMatchObject({
    ok: false,
    error: { message: expect.any(String), retryable: expect.any(Boolean) },
  });
}
