import type { ErrorType } from "@formbridge/contract";
import { type Change, handoffsIn, sha256 } from "@formbridge/core";
import { sameJson } from "./chain-check.ts";
import type { Effect } from "./effects.ts";
import { type Call, type Handed, handoffOf, isOpen, isOver, isRevoked, must, SESSION_TTL, type Sub } from "./model.ts";

const MAX_OPEN = 20;
const MAX_SESSIONS = 20;

/** What creating, opening and revoking a hand-off does: none of it changes version or token. */
export function handOver({ kind, handoffId, minted, link, session }: Call, sub: Sub, now: number): Effect | ErrorType {
  const made = minted ?? { handoffId: "", link: "", session: "" };
  const change = (handed: readonly Handed[]): Effect => ({ rotates: false, next: { handed } });
  if (kind === "handoff") {
    const open = sub.handed.filter((one) => !isRevoked(one, sub) && !isOver(one.expiresAt, now));
    if (open.length >= MAX_OPEN) return "conflict";
    const expiresAt = Math.min(now + SESSION_TTL, sub.expiresAt);
    const own = session === undefined ? undefined : handoffOf(sub, sha256(session));
    const madeIn = own === undefined ? [] : [...own.madeIn, own.id];
    const { handoffId: id, link: opens } = made;
    return change([
      ...sub.handed,
      { id, link: opens, epoch: sub.epoch, expiresAt, revoked: false, sessions: [], madeIn },
    ]);
  }
  if (kind === "revokeHandoff") {
    if (!sub.handed.some(({ id }) => id === handoffId)) return "not_found";
    const ends = ({ id, madeIn }: Handed): boolean => id === handoffId || madeIn.includes(handoffId ?? "");
    return change(sub.handed.map((one) => (ends(one) ? { ...one, revoked: true } : one)));
  }
  must(link !== undefined, "a session was opened without a link");
  return change(sub.handed.map((one) => (one.link === made.link ? opened(one, sub, made.session) : one)));
}

function opened(handed: Handed, sub: Sub, hash: string): Handed {
  const expiresAt = isOpen(sub) ? Math.min(handed.expiresAt, sub.expiresAt) : handed.expiresAt;
  return { ...handed, sessions: [...handed.sessions, { hash, expiresAt }].slice(-MAX_SESSIONS) };
}

/** What the product generated for a call: the model can't know it before. */
export function mintedIn({ side }: Change): NonNullable<Call["minted"]> {
  const { handoffId = "", link = "", sessions = [] } = handoffsIn(side)[0] ?? {};
  return { handoffId, link, session: sessions.at(-1)?.hash ?? "" };
}

/** The hand-offs that a change writes are those of the model, and no others are touched. */
export function checkSide(change: Change, before: Sub | undefined, after: Sub): void {
  for (const handoff of handoffsIn(change.side)) {
    const { handoffId: id, link = "", epoch, expiresAt, revokedAt, sessions, madeIn = [] } = handoff;
    const seen = {
      id,
      link,
      epoch,
      expiresAt,
      revoked: revokedAt !== undefined,
      sessions: sessions.map(({ hash, expiresAt: until }) => ({ hash, expiresAt: until })),
      madeIn,
    };
    const wanted = after.handed.find((one) => one.id === id);
    must(sameJson(seen, wanted ?? null), () => `hand-off ${JSON.stringify(seen)}, expected ${JSON.stringify(wanted)}`);
  }
  const written = handoffsIn(change.side).map(({ handoffId }) => handoffId);
  const changed = after.handed.filter((one) => !before?.handed.includes(one)).map(({ id }) => id);
  must(
    changed.every((id) => written.includes(id)),
    "a change to a hand-off was not written",
  );
}
