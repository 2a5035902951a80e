/** A moment as milliseconds since 1970, UTC. ISO 8601 is for the wire. */
export type Instant = number;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const toIso = (at: Instant): string => new Date(at).toISOString();
