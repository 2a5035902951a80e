import { inventCall, type Notebook } from "./calls.ts";
import { problemInChain } from "./chain-check.ts";
import type { Environment } from "./environment.ts";
import type { Call, Flight } from "./model.ts";
import { describe, outcomeName, outcomeText, perform } from "./perform.ts";
import { diceFor } from "./random.ts";
import { type Outcome, settle } from "./settle.ts";
import { CALM, crash, createWorld, inFlight, ROUGH, type Sabotage, type World } from "./world.ts";

export interface Plan {
  seed: number;
  /** The steps to take: all of them, or what is left after shrinking. */
  steps: readonly number[];
  trace?: (line: string) => void;
  /** Makes the store break its guarantees. */
  sabotage?: Sabotage;
}

export interface Report {
  operations: number;
  problem?: unknown;
  /** Where the problem showed. */
  step?: number;
  seen: Map<string, number>;
}

interface Episode {
  world: World;
  book: Notebook;
  flights: Set<Flight>;
  environment: Environment;
  report: Report;
  width: number;
  /** Recomputing every hash is slow: not after every episode. The links are checked at every commit. */
  verifies: boolean;
}

const JUMPS = [1, 1, 500, 1000, 5000, 29_000, 31_000, 61_000, 600_000, 3_600_000, 7_300_000, 90_000_000, 700_000_000];

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** One lifetime of a store, from empty to its end. The seed decides everything. */
export async function runEpisode(environment: Environment, { seed, steps, trace, sabotage }: Plan): Promise<Report> {
  const shape = diceFor(seed, -1);
  const interleaved = shape.chance(0.5);
  const log: World["log"] = trace === undefined ? () => {} : (line) => trace(line());
  const world = createWorld({ interleaved, rates: shape.chance(0.6) ? ROUGH : CALM, log });
  if (sabotage !== undefined) world.memory.store = sabotage(world.memory.store);
  const report: Report = { operations: 0, seen: new Map() };
  const book: Notebook = {
    subs: world.ledger.subs,
    tokens: new Map(),
    calls: [],
    uploads: new Map(),
    links: new Map(),
    sessions: new Map(),
  };
  const episode: Episode = {
    world,
    book,
    flights: new Set(),
    environment,
    report,
    width: 2 + shape.below(7),
    verifies: seed % 4 === 0,
  };
  await environment.enterWorld(world);
  for (const step of steps) {
    world.dice = diceFor(seed, step);
    await takeStep(episode);
    if (world.problem !== undefined) return { ...report, problem: world.problem, step };
  }
  await finish(episode);
  return world.problem === undefined ? report : { ...report, problem: world.problem, step: steps.at(-1) ?? 0 };
}

async function takeStep(episode: Episode): Promise<void> {
  const { world, flights, width, environment } = episode;
  const { dice } = world;
  if (dice.chance(0.03)) {
    world.now += dice.pick(dice.chance(0.1) ? JUMPS : JUMPS.slice(0, 8));
    world.log(() => `  clock ${new Date(world.now).toISOString()}`);
  }
  if (!world.interleaved) return await start(episode);
  if (dice.chance(0.002)) {
    world.log(() => "  the process dies");
    for (const flight of flights) flight.lost = true;
    flights.clear();
    crash(world);
    environment.restart();
  }
  const begins = flights.size < width && (world.waiting.length === 0 || dice.chance(0.4));
  if (begins) void start(episode);
  else letThrough(world);
  await nextTurn();
}

function letThrough(world: World): void {
  const [request] = world.waiting.splice(world.dice.below(world.waiting.length), 1);
  request?.run();
}

async function start(episode: Episode): Promise<void> {
  const { world, book, flights, report, environment } = episode;
  const call = inventCall(world.dice, book);
  const flight: Flight = {
    id: report.operations + 1,
    call,
    view: { now: world.now },
    began: world.now,
    looks: new Map(),
    applied: [],
    lost: false,
  };
  book.calls.push(call);
  report.operations += 1;
  flights.add(flight);
  world.log(() => `#${flight.id} ${describe(call)}`);
  const outcome = await inFlight.run(flight, () => attempt(environment, call));
  if (flight.lost) return;
  flights.delete(flight);
  world.log(() => `#${flight.id} ${outcomeText(outcome)}${flight.fault === undefined ? "" : ` (${flight.fault})`}`);
  try {
    settle(flight, outcome, world.ledger);
    learn(episode, call, outcome);
  } catch (problem) {
    world.problem ??= problem;
  }
}

async function attempt({ operations, deliver }: Environment, call: Call): Promise<Outcome> {
  try {
    return { body: await perform(operations, call, () => deliver(call)) };
  } catch (error) {
    return { error };
  }
}

/** Callers share the tokens that they get. */
function learn({ book, report }: Episode, call: Call, outcome: Outcome): void {
  const about = "body" in outcome ? outcome.body : ((outcome.error as { about?: Record<string, unknown> }).about ?? {});
  const { submissionId, resumeToken } = about;
  if (typeof submissionId === "string" && typeof resumeToken === "string") {
    const known = book.tokens.get(submissionId) ?? [];
    if (!known.includes(resumeToken)) book.tokens.set(submissionId, [...known.slice(-7), resumeToken]);
  }
  if (call.kind === "requestUpload" && "body" in outcome) {
    const id = String(submissionId);
    book.uploads.set(id, [...(book.uploads.get(id) ?? []).slice(-5), String(outcome.body.uploadId)]);
  }
  if ("body" in outcome) learnHandoff(book, String(submissionId), outcome.body);
  const name = `${call.session === undefined ? "" : "session "}${call.kind} ${outcomeName(outcome)}`;
  report.seen.set(name, (report.seen.get(name) ?? 0) + 1);
}

function learnHandoff(
  { links, sessions }: Notebook,
  id: string,
  { url, handoffId, session }: Record<string, unknown>,
): void {
  const link = typeof url === "string" ? new URL(url).searchParams.get("session") : null;
  if (link !== null) links.set(id, [...(links.get(id) ?? []).slice(-3), { handoffId: String(handoffId), link }]);
  if (typeof session === "string") sessions.set(id, [...(sessions.get(id) ?? []).slice(-3), session]);
}

/** Finishes everything in flight, then reads every history from its first event. */
async function finish({ world, flights, verifies }: Episode): Promise<void> {
  world.rates = CALM;
  for (let turns = 0; flights.size > 0 && turns < 100_000; turns++) {
    letThrough(world);
    await nextTurn();
    if (world.problem !== undefined) return;
  }
  if (flights.size > 0)
    world.problem = new Error(`calls that never end: ${[...flights].map(({ call }) => describe(call)).join("; ")}`);
  if (!verifies) return;
  for (const { id, tenant } of world.ledger.subs.values()) {
    const streams = ["submission", "token", "idempotency"] as const;
    const events = await world.memory.events.read({ tenant, submissionId: id, streams }, 1_000_000);
    const problem = problemInChain(events ?? []);
    if (problem !== undefined) world.problem ??= new Error(`${id}: ${problem}`);
  }
}
