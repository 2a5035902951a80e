import { type Instant, toIso } from "../../domain/instant.ts";
import type { Letter } from "./render.ts";

export interface HandedOver {
  /** The intake's name. */
  intake: string;
  url: string;
  /** For a magic link: entering it proves that the mail was received. */
  code?: string;
  now: Instant;
  expiresAt: Instant;
  missing: readonly string[];
  message?: string;
  /** Whether the recipients created the link themselves, to continue later. */
  isOwn?: boolean;
}

const MAX_LISTED = 20;

/** The mail with a link or code. Opening the link doesn't use it up: the page asks first. */
export function handoffLetter({ intake, url, code, message, missing, isOwn, ...times }: HandedOver): Letter {
  const more = missing.length > MAX_LISTED ? [`and ${missing.length - MAX_LISTED} more`] : [];
  const says = code === undefined ? "Open this link to continue" : "Open this link and enter your e-mail address";
  return {
    subject: isOwn ? `Your link to continue: ${intake}` : `A form is waiting for you: ${intake}`,
    parts: [
      isOwn
        ? `You asked for this link to continue the form "${intake}" later.`
        : `Somebody has prepared the form "${intake}" and asks you to continue it.`,
      ...(message === undefined ? [] : [`They write:\n${message}`]),
      ...(missing.length === 0 ? [] : ["Still missing:", { list: [...missing.slice(0, MAX_LISTED), ...more] }]),
      { link: url, says },
      ...(code === undefined ? [] : [`Or enter this code: ${code}`]),
      `${code === undefined ? "The link works" : "Link and code work once,"} until ${toIso(times.expiresAt)} (${timeLeft(times)} left).`,
      `Do not share this mail: whoever has ${code === undefined ? "the link" : "the code"} can fill in the form in your name.`,
    ],
  };
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** The two largest units: `1 day 3 hours`. */
function timeLeft({ now, expiresAt }: { now: Instant; expiresAt: Instant }): string {
  let rest = Math.max(0, expiresAt - now);
  const parts = UNITS.flatMap(([unit, ms]) => {
    const count = Math.floor(rest / ms);
    rest -= count * ms;
    return count === 0 ? [] : [`${count} ${unit}${count === 1 ? "" : "s"}`];
  });
  return parts.length === 0 ? "less than a minute" : parts.slice(0, 2).join(" ");
}
