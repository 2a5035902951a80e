/** A moment as milliseconds since 1970, UTC. ISO 8601 is for the wire. */
export type Instant = number;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

let last: { at: Instant; text: string } = { at: 0, text: "1970-01-01T00:00:00.000Z" };

/** Answers tell the same few moments over and over: the last one is remembered. */
export function toIso(at: Instant): string {
  if (at !== last.at) last = { at, text: new Date(at).toISOString() };
  return last.text;
}
