import type { HandoffKind } from "@formbridge/contract";
import type { Handoff, HandoffNote } from "../../domain/handoffs/handoff.ts";
import type { Sealer } from "../../ports/sealer.ts";

/** What a link leads to. */
export interface LinkParts {
  kind: HandoffKind;
  submissionId: string;
  /** The token of a direct link, the session of a session's. A code goes by e-mail, and stands in no answer. */
  secret?: string;
}

const SCHEME = "formbridge://";

/** The link for a browser, and the same for an app. */
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

type Place = Pick<Handoff, "tenant" | "submissionId" | "handoffId">;
const boundToHandoff = ({ tenant, submissionId, handoffId }: Place): string =>
  `handoff:${tenant}:${submissionId}:${handoffId}`;

export const sealNote = (sealer: Sealer, note: HandoffNote, place: Place): string =>
  sealer.seal(JSON.stringify(note), boundToHandoff(place));

export const openNote = (sealer: Sealer, handoff: Handoff): HandoffNote =>
  handoff.sealed === undefined ? {} : (JSON.parse(sealer.open(handoff.sealed, boundToHandoff(handoff))) as HandoffNote);
