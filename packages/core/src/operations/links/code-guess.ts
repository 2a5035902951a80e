import { timingSafeEqual } from "node:crypto";
import type { Handoff } from "../../domain/handoffs/handoff.ts";
import { sha256 } from "../../domain/hashing.ts";
import type { Sealer } from "../../ports/sealer.ts";
import { openNote } from "./handoff-links.ts";

export interface CodeGuess {
  code: string;
  email: string;
}

const same = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));

/** A code is copied from a mail by hand, so ignore case, spaces and hyphens. */
const plainCode = (code: string): string => code.toUpperCase().replace(/[\s-]/g, "");
const plainEmail = (email: string): string => email.trim().toLowerCase();

/**
 * The magic link that a code and an address open together. If one of them is wrong, it counts as an attempt at every
 * link that the other fits.
 */
export function weighCode(
  sealer: Sealer,
  handoffs: readonly Handoff[],
  guess: CodeGuess,
): { met?: Handoff; missed: Handoff[] } {
  let met: Handoff | undefined;
  const missed: Handoff[] = [];
  for (const handoff of handoffs) {
    if (handoff.kind !== "magic_link") continue;
    const { code = "", email = "" } = openNote(sealer, handoff);
    const isCode = same(code, plainCode(guess.code));
    const isEmail = same(plainEmail(email), plainEmail(guess.email));
    if (isCode && isEmail) met ??= handoff;
    else if (isCode || isEmail) missed.push(handoff);
  }
  return met === undefined ? { missed } : { met, missed: [] };
}
