import type { AlarmKind } from "@formbridge/contract";
import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";
import type { Submission } from "../submission.ts";
import type { FailedUse } from "../tokens/audit-payloads.ts";
import { isEditable } from "../transitions.ts";
import { type AlarmRule, MAX_AFTER_HANDOFF_MS, MIN_DORMANT_MS } from "./alarm.ts";

/** What alarms see of a call, whether or not it found a submission. */
export interface Observation {
  at: Instant;
  /** `unknown`: no such token. `ended`: it has lapsed or was revoked. */
  outcome: "used" | "ended" | "conflict" | "unknown";
  /** The submission before the call. */
  submission?: Submission;
  tokenHash?: Hash;
  /** Absent over stdio, and for callers with an API key: the key says who they are, wherever they call from. */
  network?: string;
  country?: string;
  /** Who writes, if the call is a write. */
  writer?: "agent" | "human" | "system";
}

/** What an incident is about. */
export interface Evidence {
  submissionId?: string;
  intakeId?: string;
  tokenHash?: Hash;
  address?: string;
}

/** One piece of evidence for one alarm. Alarms that count use `member`, once per window; alarms that measure use `figure`. */
export interface Signal {
  kind: AlarmKind;
  tenant: string;
  subject: string;
  at: Instant;
  member: string;
  figure?: number;
  evidence: Evidence;
  /** Digest of the definition, whose policy decides. */
  definition?: Hash;
}

/** Refusals that mean that the token had lapsed or was revoked. A stale token of an open submission is a conflict instead. */
const ENDED = new Set<FailedUse>(["ttl_elapsed", "expired", "admin_revoked"]);
export const isEndedUse = (reason: FailedUse): boolean => ENDED.has(reason);

/** The signals that a call gives to each alarm. `unique` generates the members of alarms that count every call. */
export function signalsOf(
  seen: Observation,
  { unique, operator }: { unique: () => string; operator: string },
): Signal[] {
  const { submission, tokenHash, network, at } = seen;
  const evidence: Evidence = {
    ...(submission && { submissionId: submission.submissionId, intakeId: submission.intakeId }),
    ...(tokenHash !== undefined && { tokenHash }),
    ...(network !== undefined && { address: network }),
  };
  const base = { tenant: submission?.tenant ?? operator, at };
  const ofAddress = (kind: AlarmKind, member: string): Signal[] =>
    network === undefined ? [] : [{ ...base, kind, subject: network, member, evidence: { address: network } }];
  const about =
    (subject: string | undefined): Signaller =>
    (kind, member, figure) =>
      submission === undefined || subject === undefined
        ? []
        : [
            {
              ...base,
              kind,
              subject,
              member,
              evidence,
              definition: submission.definition,
              ...(figure !== undefined && { figure }),
            },
          ];
  const ofToken = about(tokenHash);
  const ofSubmission = about(submission?.submissionId);
  // Every write issues a new token, so the tokens of one submission count as one.
  const named = submission?.submissionId ?? tokenHash;
  const enumerated = named === undefined ? [] : ofAddress("token_enumeration", named);
  switch (seen.outcome) {
    case "unknown":
      return [...enumerated, ...ofAddress("failed_lookups", unique())];
    case "ended":
      return [
        ...enumerated,
        ...ofToken("expired_token_reused", unique()),
        ...(tokenHash === undefined ? [] : ofAddress("expired_tokens_probed", tokenHash)),
      ];
    case "conflict":
      return submission === undefined ? [] : [...enumerated, ...ofSubmission("submission_conflicts", unique())];
    case "used":
      return [
        ...enumerated,
        ...(network === undefined ? [] : ofToken("token_shared", network)),
        ...(submission === undefined ? [] : measured(seen, submission, { ofToken, ofSubmission })),
      ];
  }
}

type Signaller = (kind: AlarmKind, member: string, figure?: number) => Signal[];

/** Alarms that a single call can trip. An API key writes without a token, too. */
function measured(
  { at, country, writer }: Observation,
  submission: Submission,
  { ofToken, ofSubmission }: { ofToken: Signaller; ofSubmission: Signaller },
): Signal[] {
  const { state, updatedAt, lastUsedAt = 0, createdIn, humanSince, completedHandoff } = submission;
  const idleMs = at - Math.max(updatedAt, lastUsedAt);
  const isElsewhere = country !== undefined && createdIn !== undefined && country !== createdIn;
  // Once the human says that their part is done or has submitted, or a reviewer has sent it back, it is the agent's turn.
  const isTheirTurn =
    humanSince !== undefined &&
    isEditable(state) &&
    state !== "rejected" &&
    (completedHandoff === undefined || completedHandoff.at < humanSince);
  const sinceMs = isTheirTurn && writer === "agent" ? at - humanSince : MAX_AFTER_HANDOFF_MS;
  return [
    ...(idleMs > MIN_DORMANT_MS ? ofToken("dormant_token", "use", idleMs) : []),
    ...(isElsewhere ? ofToken("country_changed", country, 1) : []),
    ...(sinceMs < MAX_AFTER_HANDOFF_MS ? ofSubmission("agent_after_handoff", "write", sinceMs) : []),
  ];
}

/** Whether what was counted or measured trips the alarm. */
export function trips(kind: AlarmKind, value: number, { threshold, windowMs }: AlarmRule): boolean {
  if (kind === "dormant_token") return value > windowMs;
  if (kind === "agent_after_handoff") return value < windowMs;
  return value > threshold;
}
