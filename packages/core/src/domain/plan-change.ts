import type { Actor, EventActor, EventType, JsonObject } from "@formbridge/contract";
import { EVENT_TYPES } from "@formbridge/contract";
import { chainEvents, saltedDigest } from "./chain.ts";
import type { ChainedEvent, UnchainedEvent } from "./chained-event.ts";
import type { Decision } from "./decide/decision.ts";
import { type DomainEvent, payloadOf } from "./events.ts";
import { evolve } from "./evolve.ts";
import type { Hash } from "./hashing.ts";
import { type Instant, toIso } from "./instant.ts";
import type { CompiledIntake } from "./intake/compiled-intake.ts";
import { type Policy, tokenExpiry } from "./policy.ts";
import type { Submission } from "./submission.ts";
import type { TokenUse } from "./tokens/audit-payloads.ts";
import { actorOf, personActing, tokenAudit } from "./tokens/token-audit.ts";

/** Sources of randomness and ids. */
interface Mint {
  newId(prefix: "evt"): string;
  salt(): string;
}

export interface PlanInput {
  operation: string;
  decision: Decision;
  actor: Actor;
  now: Instant;
  intake: CompiledIntake;
  policy: Policy;
  mint: Mint;
  /** Hash of the token to issue; required if the decision replaces the token. */
  nextToken?: Hash;
  /** How the caller reached the submission; absent if the server acts on its own. */
  trace?: CallTrace;
  /** The span to continue from, if the change passes the submission on to somebody else. */
  traceparent?: string;
}

/** What the token stream records about a call. */
export type CallTrace = Omit<TokenUse, "operation">;

export interface Plan {
  after: Submission;
  events: ChainedEvent[];
  /** The id of the decision's own first event; the plan may put one before it. */
  firstEventId?: string;
}

/** Turns a decision into everything that has to be written, without side effects. */
export function planChange(before: Submission, input: PlanInput): Plan {
  const { decision, now, actor, mint, intake } = input;
  const rotates = decision.token !== "keep";
  const version = before.version + (rotates ? 1 : 0);
  const ts = toIso(now);
  const actors = createActorDigests(mint);
  const domainEvents = withHandoff(before, input);
  let submission = before;
  const events = domainEvents.map((event) => {
    submission = evolve(submission, event, { actor, now, version });
    const by = actors(event.by ?? actor);
    return envelope(event.type, { by, payload: payloadOf(event, intake), submission, version, ts, mint });
  });
  const after = finish(submission, { input, version, seq: before.heads.submission.seq + events.length, rotates });
  const use = { operation: input.operation, ...input.trace };
  const moved = tokenAudit({ before, after, use, decision, now }).map(({ type, payload }) =>
    envelope(type, { by: actors(actorOf(type, actor)), payload, submission: after, version, ts, mint }),
  );
  const noted = (decision.audit ?? []).map(({ type, payload }) =>
    auditEvent(type, { submission: after, by: actor, payload: { ...input.trace, ...payload }, now, mint }),
  );
  const firstEventId = events[domainEvents.length - decision.events.length]?.eventId;
  const plan = withEvents({ after, events: [] }, [...events, ...moved, ...noted]);
  return firstEventId === undefined ? plan : { ...plan, firstEventId };
}

/** The plan with more events at the ends of their streams. */
export function withEvents(plan: Plan, more: readonly UnchainedEvent[]): Plan {
  const { events, heads } = chainEvents(plan.after.heads, more);
  return { ...plan, after: { ...plan.after, heads }, events: [...plan.events, ...events] };
}

/** A change of the history only: the revision grows, version and token stay. */
export function planAudit(before: Submission, events: readonly UnchainedEvent[]): Plan {
  return withEvents({ after: { ...before, revision: before.revision + 1 }, events: [] }, events);
}

/** Adds `handoff.resumed` when an agent acts again after a human. */
function withHandoff(before: Submission, { decision, actor }: PlanInput): readonly DomainEvent[] {
  const resumes =
    decision.token === "rotate" &&
    before.version > 0 &&
    actor.kind === "agent" &&
    before.lastUpdatedBy.kind === "human";
  return resumes ? [{ type: "handoff.resumed", after: before.lastUpdatedBy }, ...decision.events] : decision.events;
}

/** When a human last took over, now that this person has acted. A declared human doesn't: with the token, anyone can claim to be one. */
export const takenOver = (
  { lastPerson, humanSince }: Submission,
  { kind, declared }: Pick<Actor, "kind" | "declared">,
  now: Instant,
): Pick<Submission, "humanSince"> => {
  if (kind === "human" && lastPerson?.kind === "agent" && declared !== true) return { humanSince: now };
  return kind === "human" && humanSince !== undefined ? { humanSince } : {};
};

/** The last recorded activity, by agent and by human. */
function activityAfter(
  { activity, erasedAt }: Submission,
  { decision, actor, now }: PlanInput,
): Pick<Submission, "activity"> {
  const { metadata: _told, ...named } = actor;
  const isTold = decision.events.some(({ by, type }) => by === undefined && type !== "submission.replayed");
  if (actor.kind === "system" || erasedAt !== undefined || !isTold) return {};
  return { activity: { ...activity, [actor.kind]: { actor: named, at: now } } };
}

function finish(
  submission: Submission,
  end: { input: PlanInput; version: number; seq: number; rotates: boolean },
): Submission {
  const { input, version, seq, rotates } = end;
  const { decision, now, actor, intake, policy, nextToken } = input;
  const person = submission.erasedAt === undefined ? personActing(input.operation, actor) : undefined;
  const { humanSince: _, ...rest } = submission;
  const next: Submission = {
    ...(person === undefined ? submission : rest),
    version,
    revision: submission.revision + 1,
    ...(person && { lastPerson: person, ...takenOver(submission, actor, now) }),
    ...(input.traceparent !== undefined && { traceparent: input.traceparent }),
    ...activityAfter(submission, input),
  };
  if (decision.lapses === true) return { ...next, token: { ...next.token, lapsed: true } };
  if (!rotates) return next;
  if (nextToken === undefined) throw new Error("a token that moves needs its successor's hash");
  const revoking = decision.token === "revoke" || decision.token === "reissue";
  return {
    ...next,
    epoch: submission.epoch + (revoking ? 1 : 0),
    epochSince: revoking ? now : submission.epochSince,
    // Until a new token is requested: a write doesn't restore revoked tokens.
    tokensRevoked: decision.token === "revoke" || (decision.token === "rotate" && submission.tokensRevoked),
    updatedAt: now,
    // Renewing a lapsed token changes none of the values.
    lastUpdatedBy: decision.token === "renew" ? submission.lastUpdatedBy : (decision.events[0]?.by ?? actor),
    token: { hash: nextToken, issuedAt: now, expiresAt: tokenExpiry(next, { now, intake, policy }), seq },
  };
}

/** An actor with the salted digest that the chain covers. */
type DigestedActor = Pick<UnchainedEvent, "actor" | "actorSalt" | "actorDigest">;

function digestActor(actor: EventActor, mint: Mint): DigestedActor {
  const actorSalt = mint.salt();
  return { actor, actorSalt, actorDigest: saltedDigest(actorSalt, actor) };
}

/** One digest per actor for all events of a change: that they share an author is no secret. */
function createActorDigests(mint: Mint): (actor: EventActor) => DigestedActor {
  let last: DigestedActor | undefined;
  return (actor) => {
    if (last?.actor !== actor) last = digestActor(actor, mint);
    return last;
  };
}

interface EnvelopeInput {
  by: DigestedActor;
  payload: JsonObject;
  submission: AuditedSubmission;
  version: number;
  ts: string;
  mint: Mint;
}

function envelope(type: EventType, { by, payload, submission, version, ts, mint }: EnvelopeInput): UnchainedEvent {
  const payloadSalt = mint.salt();
  return {
    eventId: mint.newId("evt"),
    stream: EVENT_TYPES[type].stream,
    type,
    submissionId: submission.submissionId,
    ts,
    state: submission.state,
    version,
    actor: by.actor,
    payload,
    actorSalt: by.actorSalt,
    actorDigest: by.actorDigest,
    payloadSalt,
    payloadDigest: saltedDigest(payloadSalt, payload),
  };
}

/** The part of a submission that its events mention. */
export type AuditedSubmission = Pick<Submission, "submissionId" | "state" | "version">;

/** An event about a submission in its current state. */
export function auditEvent(
  type: EventType,
  about: { submission: AuditedSubmission; by: EventActor; payload: JsonObject; now: Instant; mint: Mint },
): UnchainedEvent {
  const { submission, payload, now, mint } = about;
  const by = digestActor(about.by, mint);
  return envelope(type, { by, payload, submission, version: submission.version, ts: toIso(now), mint });
}
