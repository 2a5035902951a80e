import type { Handoff } from "./handoffs/handoff.ts";
import type { ReviewLink } from "./review/review-link.ts";

/**
 * A part of a submission with its own row. A hand-off is found by the hash of its link and of each of its sessions, a
 * review link by its own.
 */
export type SideRow = { kind: "handoff"; handoff: Handoff } | { kind: "review_link"; link: ReviewLink };

export const handoffsIn = (side: readonly SideRow[] = []): Handoff[] =>
  side.flatMap((row) => (row.kind === "handoff" ? [row.handoff] : []));
export const reviewLinksIn = (side: readonly SideRow[] = []): ReviewLink[] =>
  side.flatMap((row) => (row.kind === "review_link" ? [row.link] : []));
