import type { Actor, HandoffKind } from "@formbridge/contract";
import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";

/** One browser or app that works through a hand-off, identified by the hash of its secret. */
export interface Session {
  hash: Hash;
  /** Fixed when the session is opened: its writes are recorded as this actor's. */
  actor: Actor;
  openedAt: Instant;
  expiresAt: Instant;
}

/** A submission handed to someone, with the sessions opened through its link. */
export interface Handoff {
  handoffId: string;
  tenant: string;
  submissionId: string;
  kind: HandoffKind;
  createdAt: Instant;
  createdBy: Actor;
  /** Until when the link can be opened. */
  expiresAt: Instant;
  /** The token epoch at that time: revoking or reissuing tokens ends hand-offs too. */
  epoch: number;
  /** Absent: any human. */
  allowedActors?: Actor[];
  /** Hash of the secret in the link; direct links and magic links have none. */
  link?: Hash;
  /** For a direct link: the version of its token. */
  version?: number;
  /** For a magic link: its code opens one session, and allows this many wrong attempts. */
  code?: { triesLeft: number; spent: boolean };
  /** The recipient's address, the code and the message, sealed. */
  sealed?: string;
  sessions: Session[];
  /** The hand-off in whose session it was created, and those before that one. */
  madeIn?: string[];
  /** The span that created it; its sessions continue the trace. */
  traceparent?: string;
  revokedAt?: Instant;
  /** The row may be deleted after this. */
  forgetAfter: Instant;
}

/** The hashes that a hand-off is found by: its link's, and those of all its sessions. */
export const handoffHashes = ({ link, sessions }: Handoff): Hash[] => [
  ...(link === undefined ? [] : [link]),
  ...sessions.map(({ hash }) => hash),
];

/** The sealed part of a hand-off. */
export interface HandoffNote {
  email?: string;
  code?: string;
  message?: string;
}
