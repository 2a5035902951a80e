const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** A time in this repository's granularity. */
export const toSeconds = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

export type Granularity = "day" | "second";

/** Parses a date of a request; undefined if it is invalid. */
export function readDate(value: string): { at: number; granularity: Granularity } | undefined {
  const granularity = SECONDS.test(value) ? "second" : DAY.test(value) ? "day" : undefined;
  if (granularity === undefined) return undefined;
  const at = Date.parse(value);
  // `Date` parses February 30 as a day in March.
  return Number.isNaN(at) || !toSeconds(at).startsWith(value.slice(0, 19)) ? undefined : { at, granularity };
}

const LAST_SECOND = 86_399_000;

/** The last second that an `until` includes. */
export const lastSecond = ({ at, granularity }: { at: number; granularity: Granularity }): number =>
  granularity === "day" ? at + LAST_SECOND : at;
