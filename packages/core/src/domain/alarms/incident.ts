import type { Actor, AlarmKind, AlarmResponse, BlockView, IncidentState, IncidentView } from "@formbridge/contract";
import { type Hash, sha256 } from "../hashing.ts";
import { type Instant, toIso } from "../instant.ts";
import type { AlarmRule } from "./alarm.ts";
import type { Evidence, Signal } from "./signals.ts";

interface Handled {
  by: Actor;
  at: Instant;
}

export type ResponseOutcome = IncidentView["responses"][number];

/** An alarm that tripped. `cause` and `number` are unique together, so several instances raise one attack only once. */
export interface Incident {
  incidentId: string;
  tenant: string;
  /** Hash of the alarm and its subject. */
  cause: Hash;
  /** Counts the incidents with this cause, from 1. */
  number: number;
  revision: number;
  kind: AlarmKind;
  state: IncidentState;
  evidence: Evidence;
  count: number;
  threshold: number;
  windowMs: number;
  raisedAt: Instant;
  lastSeenAt: Instant;
  /** Responses to carry out, and when to try again; absent once all are done. */
  due?: { responses: AlarmResponse[]; at: Instant; tries: number };
  responses: ResponseOutcome[];
  acknowledged?: Handled;
  closed?: Handled;
  falsePositive?: boolean;
  note?: string;
}

/** Calls from a network that are refused until `endsAt`. */
export interface Block {
  blockId: string;
  tenant: string;
  network: string;
  createdAt: Instant;
  endsAt: Instant;
  reason?: string;
  incidentId?: string;
  createdBy?: Actor;
}

/** How long another instance waits before it takes over the responses. */
export const RESPONSE_LEASE_MS = 30_000;
/** Evidence within this time belongs to the same incident, however short the alarm's window. */
const MIN_QUIET_MS = 300_000;

/**
 * Up to when further evidence belongs to this incident: until the attack has been quiet for a while, but not beyond the block of its
 * address, because an attack that goes on then needs a new block. The block of a false positive was lifted, so it doesn't count.
 */
function coversUntil(incident: Incident, blockMs: number): Instant {
  const { lastSeenAt, raisedAt, responses, falsePositive } = incident;
  const quietUntil = lastSeenAt + quietMs(incident);
  const isBlocked = responses.some(({ response, outcome }) => response === "block" && outcome === "done");
  return isBlocked && falsePositive !== true ? Math.min(quietUntil, raisedAt + blockMs) : quietUntil;
}

export const causeOf = ({ tenant, kind, subject }: Signal): Hash => sha256(JSON.stringify([tenant, kind, subject]));

const quietMs = ({ windowMs }: { windowMs: number }): number => Math.max(windowMs, MIN_QUIET_MS);

interface Raising {
  rule: AlarmRule;
  count: number;
  previous?: Incident;
  incidentId: string;
  /** How long an alarm blocks an address. */
  blockMs: number;
}

/** The incident to add for a signal that trips; undefined if one with this cause covers it. */
export function raise(signal: Signal, { rule, count, previous, incidentId, blockMs }: Raising): Incident | undefined {
  const { at, tenant, kind, evidence } = signal;
  if (previous !== undefined && at <= coversUntil(previous, blockMs)) return undefined;
  const { threshold, windowMs, responses } = rule;
  return {
    incidentId,
    tenant,
    cause: causeOf(signal),
    number: (previous?.number ?? 0) + 1,
    revision: 1,
    kind,
    state: "open",
    evidence,
    count,
    threshold,
    windowMs,
    raisedAt: at,
    lastSeenAt: at,
    due: { responses: [...responses], at: at + RESPONSE_LEASE_MS, tries: 0 },
    responses: [],
  };
}

/** The incident with a new `lastSeenAt`; undefined if the stored one is recent enough, so that an attack doesn't cause constant writes. */
export function seenAgain(incident: Incident, at: Instant): Incident | undefined {
  if (incident.state === "closed" || at - incident.lastSeenAt < quietMs(incident) / 2) return undefined;
  return { ...incident, lastSeenAt: at, revision: incident.revision + 1 };
}

export function incidentView(incident: Incident): IncidentView {
  const { incidentId, kind, state, evidence, count, threshold, windowMs, responses } = incident;
  const { acknowledged, closed, falsePositive, note } = incident;
  const handled = ({ by, at }: Handled) => ({ by, at: toIso(at) });
  return {
    incidentId,
    kind,
    state,
    ...evidence,
    count,
    threshold,
    windowMs,
    raisedAt: toIso(incident.raisedAt),
    lastSeenAt: toIso(incident.lastSeenAt),
    responses,
    ...(acknowledged && { acknowledged: handled(acknowledged) }),
    ...(closed && { closed: handled(closed) }),
    ...(falsePositive !== undefined && { falsePositive }),
    ...(note !== undefined && { note }),
  };
}

export function blockView({ tenant: _, network, createdAt, endsAt, ...rest }: Block): BlockView {
  return { ...rest, address: network, createdAt: toIso(createdAt), endsAt: toIso(endsAt) };
}
