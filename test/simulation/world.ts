import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Backend,
  type Change,
  type Committed,
  createKeyQueue,
  type Loaded,
  type LoadQuery,
  type Store,
  StoreDown,
} from "@formbridge/core";
import { createMemoryBackend } from "@formbridge/store-memory";
import { createLedger, type Ledger, observeCommit, observeLoad, observeTaken } from "./ledger.ts";
import { Crash, type Flight } from "./model.ts";
import { createDice, type Dice } from "./random.ts";

/** Which call the code below is running for. */
export const inFlight = new AsyncLocalStorage<Flight>();

export interface Rates {
  loadDown: number;
  notApplied: number;
  unknown: number;
  crash: number;
  locked: number;
}

/** A store that breaks its guarantees, to see whether that is noticed. */
export type Sabotage = (store: Store) => Store;

export const CALM: Rates = { loadDown: 0, notApplied: 0, unknown: 0, crash: 0, locked: 0 };
export const ROUGH: Rates = { loadDown: 0.004, notApplied: 0.01, unknown: 0.02, crash: 0.02, locked: 0.01 };

const START = Date.parse("2026-03-01T12:00:00.000Z");

interface Waiting {
  flight: Flight;
  run(): void;
  /** The process dies: the store may already have received the request. */
  abandon(): void;
}

/** One store in memory, a manual clock, and whatever can go wrong on the way to it. */
export interface World {
  now: number;
  dice: Dice;
  rates: Rates;
  interleaved: boolean;
  ledger: Ledger;
  memory: Backend;
  waiting: Waiting[];
  enter: ReturnType<typeof createKeyQueue>;
  /** What contradicted the model while no response could show it. */
  problem?: unknown;
  log(line: () => string): void;
}

export function createWorld(options: { interleaved: boolean; rates: Rates; log: World["log"] }): World {
  const world: World = {
    now: START,
    dice: createDice(0),
    ledger: createLedger(),
    memory: createMemoryBackend({ now: () => world.now }),
    waiting: [],
    enter: createKeyQueue(),
    ...options,
  };
  return world;
}

function current(): Flight {
  const flight = inFlight.getStore();
  if (flight === undefined) throw new Error("the store was called outside of any call");
  return flight;
}

/** In an interleaved world a request to the store waits until it is released. */
function queued<T>(world: World, flight: Flight, request: () => Promise<T>): Promise<T> {
  if (!world.interleaved) return request();
  return new Promise((resolve, reject) => {
    const run = (): void => {
      request().then(resolve, reject);
    };
    world.waiting.push({ flight, run, abandon: () => void request().catch(() => {}) });
  });
}

/** A contradiction of the model ends the episode, wherever the call that saw it catches it. */
function noted<T>(world: World, check: () => T): T {
  try {
    return check();
  } catch (problem) {
    world.problem ??= problem;
    throw problem;
  }
}

export function load(world: World, query: LoadQuery): Promise<Loaded> {
  const flight = current();
  return queued(world, flight, async () => {
    if (world.dice.chance(world.rates.loadDown)) {
      flight.fault = "down";
      throw new StoreDown("simulated", "not_applied");
    }
    const loaded = await world.memory.store.load(query);
    noted(world, () => observeLoad(world.ledger, flight, { query, loaded }));
    return loaded;
  });
}

export function commit(world: World, change: Change): Promise<Committed> {
  const flight = current();
  return queued(world, flight, async () => {
    const { rates, dice } = world;
    if (dice.chance(rates.notApplied)) {
      flight.fault = "down";
      throw new StoreDown("simulated", "not_applied");
    }
    const fate = dice.chance(rates.unknown) ? "unknown" : dice.chance(rates.crash) ? "crash" : "answered";
    if (fate === "unknown" && dice.chance(0.3)) {
      flight.fault = "unknown";
      throw new StoreDown("simulated", "unknown");
    }
    const { now } = world;
    const committed = await world.memory.store.commit(change);
    noted(world, () => observeCommitted(world, flight, { change, committed, now }));
    if (fate === "answered") return committed;
    flight.fault = fate;
    throw fate === "crash" ? new Crash("simulated") : new StoreDown("simulated", "unknown");
  });
}

function observeCommitted(
  world: World,
  flight: Flight,
  seen: { change: Change; committed: Committed; now: number },
): void {
  const { change, committed, now } = seen;
  world.log(
    () =>
      `    #${flight.id} commit r${change.row.submission.revision} ${change.events.map(({ type }) => type).join(",")} → ${committed.kind}`,
  );
  if (committed.kind === "committed") observeCommit(world.ledger, flight, { change, now });
  if (committed.kind === "key_taken") observeTaken(world.ledger, flight, { change, now });
}

/** Every process has its own queue; now and then somebody waits in it for too long. */
export const enter: (world: World, ...rest: Parameters<World["enter"]>) => ReturnType<World["enter"]> = async (
  world,
  key,
  limits,
) => {
  if (world.dice.chance(world.rates.locked)) {
    current().fault = "locked";
    return undefined;
  }
  return await world.enter(key, limits);
};

/** The process dies. Requests to the store may have arrived, nobody gets a response, and all locks are gone. */
export function crash(world: World): void {
  for (const { flight, abandon } of world.waiting) {
    flight.fault = "crash";
    flight.lost = true;
    if (world.dice.chance(0.5)) abandon();
  }
  world.waiting = [];
  world.enter = createKeyQueue();
}
