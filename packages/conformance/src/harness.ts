import type { Backend, Instant } from "@formbridge/core";
import { afterEach, beforeEach } from "vitest";

/** Can the data be opened again after `close`? A backend that can't says why. */
export type Durability = { reopen: () => Promise<Backend> } | { reopen?: never; whyNot: string };

export type OpenedBackend = { backend: Backend } & Durability;

/** Opens a fresh, empty backend that tells the time by `now`. */
export type OpenBackend = (now: () => Instant) => Promise<OpenedBackend>;

export interface Clock {
  now: () => Instant;
  advance(ms: number): void;
}

export function createClock(start: Instant = Date.UTC(2026, 0, 1)): Clock {
  let at = start;
  return {
    now: () => at,
    advance: (ms) => {
      at += ms;
    },
  };
}

export interface Subject extends Backend {
  clock: Clock;
  /** Closes the backend and opens its data again; undefined for one that can't. */
  reopen: (() => Promise<Backend>) | undefined;
}

/** A fresh backend and clock for every test of the describe block that calls this. */
export function useBackend(open: OpenBackend): () => Subject {
  let subject: Subject | undefined;
  let current: Backend | undefined;
  beforeEach(async () => {
    const clock = createClock();
    const { backend, reopen } = await open(clock.now);
    current = backend;
    const again = async () => {
      await current?.close();
      current = await reopen?.();
      if (current === undefined) throw new Error("this backend can't be reopened");
      return current;
    };
    subject = { ...backend, clock, reopen: reopen && again };
  });
  afterEach(async () => {
    await current?.close();
  });
  return () => {
    if (subject === undefined) throw new Error("only a test has a backend");
    return subject;
  };
}
