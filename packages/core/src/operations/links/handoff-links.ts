import type { HandoffKind } from "@formbridge/contract";
import type { Handoff, HandoffNote } from "../../domain/handoffs/handoff.ts";
import type { Sealer } from "../../ports/sealer.ts";

/** What a link consists of. */
export interface LinkParts {
  kind: HandoffKind;
  submissionId: string;
  /** A direct link's token, or a session link's secret. A code is only sent by e-mail. */
  secret?: string;
}

const SCHEME = "formbridge://";

/** The link for browsers, and the same for apps. */
export function linksOf(
  publicUrl: string,
  { kind, submissionId, secret = "" }: LinkParts,
): { url: string; deepLink: string } {
  if (kind === "direct") {
    return { url: `${publicUrl}/resume/${submissionId}/${secret}`, deepLink: `${SCHEME}resume/${secret}` };
  }
  const path = `resume/${submissionId}?${kind === "magic_link" ? "code" : "session"}=${encodeURIComponent(secret)}`;
  return { url: `${publicUrl}/${path}`, deepLink: `${SCHEME}${path}` };
}

/** The form for the holder of a token. */
export const resumeUrlOf = (publicUrl: string, token: string): string => `${publicUrl}/resume/${token}`;

type Place = Pick<Handoff, "tenant" | "submissionId" | "handoffId">;
export const boundToHandoff = ({ tenant, submissionId, handoffId }: Place): string =>
  `handoff:${tenant}:${submissionId}:${handoffId}`;

export const sealNote = (sealer: Sealer, note: HandoffNote, place: Place): string =>
  sealer.seal(JSON.stringify(note), boundToHandoff(place));

export const openNote = (sealer: Sealer, handoff: Handoff): HandoffNote =>
  handoff.sealed === undefined ? {} : (JSON.parse(sealer.open(handoff.sealed, boundToHandoff(handoff))) as HandoffNote);
