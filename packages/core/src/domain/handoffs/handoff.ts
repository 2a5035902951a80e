import type { Actor, HandoffKind } from "@formbridge/contract";
import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";

/** One browser or app that works through a hand-off, known by the hash of its secret. */
export interface Session {
  hash: Hash;
  /** Fixed when the session was opened: its writes are recorded as this actor's. */
  actor: Actor;
  openedAt: Instant;
  expiresAt: Instant;
}

/** A submission given into somebody's hands, with the sessions that were opened through its link. */
export interface Handoff {
  handoffId: string;
  tenant: string;
  submissionId: string;
  kind: HandoffKind;
  createdAt: Instant;
  createdBy: Actor;
  /** The link can be opened until then. */
  expiresAt: Instant;
  /** Of the submission's tokens at that time: revoking or reissuing them ends hand-offs too. */
  epoch: number;
  /** Absent: any human. */
  allowedActors?: Actor[];
  /** Hash of the secret in the link; a direct link and a magic link have none. */
  link?: Hash;
  /** Of a direct link: the version whose token it is. */
  version?: number;
  /** Of a magic link: its code opens one session, and takes so many mistakes. */
  code?: { triesLeft: number; spent: boolean };
  /** The recipient's address, the code and the message, sealed. */
  sealed?: string;
  sessions: Session[];
  revokedAt?: Instant;
  /** Nobody asks for it any more after this. */
  forgetAfter: Instant;
}

/** What a hand-off is found by: the hash of its link, and of every session that was opened through it. */
export const handoffHashes = ({ link, sessions }: Handoff): Hash[] => [
  ...(link === undefined ? [] : [link]),
  ...sessions.map(({ hash }) => hash),
];

/** What of a hand-off is sealed at rest. */
export interface HandoffNote {
  email?: string;
  code?: string;
  message?: string;
}
