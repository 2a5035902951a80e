/** A time in milliseconds since 1970, UTC. ISO 8601 is for the wire. */
export type Instant = number;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

interface Told {
  at: Instant;
  text: string;
}
let last: Told = { at: 0, text: "1970-01-01T00:00:00.000Z" };
let before: Told = last;

/** Responses repeat the same few times, so the last two are cached. */
export function toIso(at: Instant): string {
  if (at === last.at) return last.text;
  const told = at === before.at ? before : { at, text: new Date(at).toISOString() };
  before = last;
  last = told;
  return told.text;
}

/** A time as a member of a response, if there is one. */
export const when = <Key extends string>(key: Key, at: Instant | undefined): { [K in Key]?: string } =>
  (at === undefined ? {} : { [key]: toIso(at) }) as { [K in Key]?: string };
