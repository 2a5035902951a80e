import type { Backend, Instant } from "@formbridge/core";
import { afterEach, beforeEach } from "vitest";

/** Whether the data can be opened again after `close`. A backend that can't says why. */
export type Durability = { reopen: () => Promise<Backend> } | { reopen?: never; whyNot: string };

/** The parts of a change that have a table of their own. */
export const PARTS = ["tokens", "events", "records", "handoffs", "review_links", "jobs"] as const;
export type Part = (typeof PARTS)[number];

/**
 * Whether the backend can be made to refuse new rows of one part. Returns how to end that. A backend that can't says
 * why.
 */
export type Refusal =
  | { refuseWrites: (part: Part) => Promise<() => Promise<void>> }
  | { refuseWrites?: never; whyNoRefusal: string };

export type OpenedBackend = { backend: Backend } & Durability & Refusal;

/** Opens a new, empty backend that uses `now` as its clock. */
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
  /** Closes the backend and opens its data again; undefined if it can't. */
  reopen: (() => Promise<Backend>) | undefined;
  refuseWrites: ((part: Part) => Promise<() => Promise<void>>) | undefined;
  whyNoRefusal: string;
}

/** A new backend and clock for every test of the enclosing describe block. */
export function useBackend(open: OpenBackend): () => Subject {
  let subject: Subject | undefined;
  let current: Backend | undefined;
  beforeEach(async () => {
    const clock = createClock();
    const opened = await open(clock.now);
    const { backend, reopen, refuseWrites } = opened;
    const whyNoRefusal = "whyNoRefusal" in opened ? opened.whyNoRefusal : "";
    current = backend;
    const again = async () => {
      await current?.close();
      current = await reopen?.();
      if (current === undefined) throw new Error("this backend can't be reopened");
      return current;
    };
    subject = { ...backend, clock, reopen: reopen && again, refuseWrites, whyNoRefusal };
  });
  afterEach(async () => {
    await current?.close();
  });
  return () => {
    if (subject === undefined) throw new Error("only a test has a backend");
    return subject;
  };
}
