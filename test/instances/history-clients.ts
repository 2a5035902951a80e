/** Clients that share a few submissions and their tokens, conflict with each other, and record every call. */
import { ADMIN_KEY } from "../faults/ledger-check.ts";
import type { Dice } from "../simulation/random.ts";
import type { Loose } from "../support/harness.ts";
import type { Call, History } from "./history-check.ts";

export const CONTENDED = {
  id: "contended",
  version: "1",
  name: "contended",
  access: "public",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, { type: "string" }])),
    required: ["a"],
  },
  destination: { kind: "store" },
};
const FIELDS = Object.keys(CONTENDED.schema.properties);
/** This many are open at a time: few enough to conflict often. */
const OPEN_SUBMISSIONS = 24;
const CALL_MS = 30_000;
const KEY = { authorization: `Bearer ${ADMIN_KEY}` };

interface Shared {
  id: string;
  /** In the order they were learned; the last is not always the newest. */
  tokens: { token: string; version: number }[];
}

export interface Board {
  url: string;
  from: string;
  open: Shared[];
  /** Every call, with its submission when that is known. */
  calls: { id?: string; call: Call }[];
  left: number;
}

export const newBoard = (url: string, calls: number): Board => ({
  url,
  from: new Date().toISOString(),
  open: [],
  calls: [],
  left: calls,
});

interface Request {
  by: string;
  kind: Call["kind"];
  method: string;
  path: string;
  shared?: Shared;
  base?: number;
  fields?: Record<string, string>;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** Makes one call after another until the board's calls are used up. */
export async function contend(board: Board, name: string, dice: Dice): Promise<void> {
  for (let count = 0; board.left > 0; count++) {
    const request = nextRequest(board, `${name}-${count}`, dice);
    // An impatient client calls twice at once.
    const twice = request.headers?.["idempotency-key"] !== undefined && dice.chance(0.15);
    await Promise.all((twice ? [request, request] : [request]).map((each) => perform(board, each)));
    const { shared, kind } = request;
    if (shared !== undefined && kind === "setFields" && dice.chance(0.3)) {
      await perform(board, readById(`${name}-${count}-look`, shared));
    }
  }
}

function readById(by: string, shared: Shared): Request {
  return { by, shared, kind: "read", method: "GET", path: `/submissions/${shared.id}`, headers: KEY };
}

function nextRequest(board: Board, by: string, dice: Dice): Request {
  if (board.open.length < OPEN_SUBMISSIONS) return creation(by, dice);
  // Some are much more popular than others.
  const shared = board.open[Math.floor(board.open.length * dice.roll() ** 2)] ?? dice.pick(board.open);
  const { token, version: base } = pickToken(shared, dice);
  const roll = dice.roll();
  const path = `/resume/${token}`;
  const known = { by, shared, base };
  if (roll < 0.5) {
    const fields = { [dice.pick(FIELDS)]: by };
    return { ...known, kind: "setFields", method: "PATCH", path, fields, body: { fields }, ...keyed(by, dice) };
  }
  if (roll < 0.52) return { ...known, kind: "submit", method: "POST", path: `${path}/submit`, body: {}, ...keyed(by) };
  if (roll < 0.6) return { ...known, kind: "validate", method: "POST", path: `${path}/validate`, body: {} };
  return roll < 0.8 ? { ...known, kind: "read", method: "GET", path } : readById(by, shared);
}

function creation(by: string, dice: Dice): Request {
  const fields = { [dice.pick(FIELDS)]: by };
  const path = `/intakes/${CONTENDED.id}/submissions`;
  return { by, kind: "create", method: "POST", path, base: 0, fields, body: { initialFields: fields }, ...keyed(by) };
}

const keyed = (by: string, dice?: Dice): Pick<Request, "headers"> =>
  dice === undefined || dice.chance(0.4) ? { headers: { "idempotency-key": by.padEnd(32, "-") } } : {};

/** Mostly the newest that anybody knows. */
function pickToken({ tokens }: Shared, dice: Dice): Shared["tokens"][number] {
  const sorted = tokens.toSorted((one, other) => other.version - one.version).slice(0, 4);
  return sorted[dice.chance(0.85) ? 0 : dice.below(sorted.length)] ?? dice.pick(tokens);
}

async function perform(board: Board, request: Request): Promise<void> {
  board.left -= 1;
  const { by, kind, base, fields, shared } = request;
  const began = performance.now();
  const answer = await ask(board.url, request);
  const found = answer === undefined ? { outcome: "unknown" as const } : judged(request, answer);
  const call: Call = { by, kind, began, ended: performance.now(), ...found };
  if (base !== undefined) call.base = base;
  if (kind !== "read" && fields !== undefined) call.fields = fields;
  const id: string | undefined = shared?.id ?? answer?.body.submissionId;
  board.calls.push({ ...(id !== undefined && { id }), call });
  if (answer !== undefined && id !== undefined) learn(board, { id, shared, answer });
}

interface Answer {
  status: number;
  body: Loose;
}

/** Undefined: the connection broke, there was no response in time, or the proxy got none. */
async function ask(url: string, { method, path, body, headers, by }: Request): Promise<Answer | undefined> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body && { "content-type": "application/json" }), ...headers },
      ...(body && { body: JSON.stringify({ actor: { kind: "agent", id: by }, ...body }) }),
      signal: AbortSignal.timeout(CALL_MS),
    });
    const answer = { status: response.status, body: await response.json() };
    return response.status === 502 || response.status === 504 ? undefined : answer;
  } catch {
    return undefined;
  }
}

function judged(request: Request, { status, body }: Answer): Pick<Call, "outcome" | "version" | "fields"> {
  const { kind } = request;
  if (status < 300) {
    const outcome = body._idempotent === true ? ("replayed" as const) : ("done" as const);
    // The replay of a create shows the submission as it is now.
    const version: number = kind === "create" ? 1 : body.version;
    return { outcome, version, ...(kind === "read" && { fields: body.fields }) };
  }
  const { type, message } = body.error;
  if (type === "token_conflict") return { outcome: "refused", version: body.version };
  const isEnded = status === 410 && kind !== "read";
  const isMissing = status === 422 && kind === "submit";
  const isAway = status === 503 && message.includes("nothing was changed");
  if (isEnded || isMissing || isAway) return { outcome: "refused" };
  throw new Error(`${kind} ${request.path.replace(/rtok_\S+/, "rtok_…")}: ${status} ${JSON.stringify(body)}`);
}

function learn(board: Board, { id, shared, answer }: { id: string; shared: Shared | undefined; answer: Answer }): void {
  const { resumeToken, version, state } = answer.body;
  const place = shared ?? board.open.find((one) => one.id === id) ?? { id, tokens: [] };
  if (resumeToken !== undefined && version !== undefined) place.tokens.push({ token: resumeToken, version });
  const isOver = state === "finalized" || answer.status === 410;
  if (isOver) board.open = board.open.filter((one) => one.id !== id);
  else if (shared === undefined && !board.open.includes(place) && place.tokens.length > 0) board.open.push(place);
}

const WRITES = "submission.created,field.updated,submission.submitted";

/** What the server reports of every submission in the end, with the calls about it. */
export async function historiesOf(board: Board): Promise<Map<string, History>> {
  const get = async (path: string): Promise<Loose> => (await fetch(board.url + path, { headers: KEY })).json();
  const { items } = await get(`/submissions?intakeId=${CONTENDED.id}&from=${board.from}&limit=1000`);
  const byId = Map.groupBy(board.calls, ({ id }) => id);
  const nameless = byId.get(undefined) ?? [];
  // An acknowledged submission that is in no list is lost.
  const histories = new Map<string, History>();
  for (const [id, calls] of byId) {
    const nothing = { chain: [], end: { version: 0, fields: {} } };
    if (id !== undefined) histories.set(id, { calls: calls.map(({ call }) => call), ...nothing });
  }
  for (const { submissionId } of items) {
    const [{ version, fields }, { events }] = await Promise.all([
      get(`/submissions/${submissionId}`),
      get(`/submissions/${submissionId}/events?types=${WRITES}&limit=1000`),
    ]);
    const told = events.map((event: Loose) => ({ version: event.version, by: event.actor.id }));
    // A create with values is two events of one write.
    const chain = events[1]?.version === events[0]?.version ? told.slice(1) : told;
    const creator = chain[0]?.by;
    const calls = [...(byId.get(submissionId) ?? []), ...nameless.filter(({ call }) => call.by === creator)];
    histories.set(submissionId, { calls: calls.map(({ call }) => call), chain, end: { version, fields } });
  }
  return histories;
}
