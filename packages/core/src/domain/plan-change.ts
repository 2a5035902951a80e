import type { Actor, EventType, JsonObject } from "@formbridge/contract";
import { EVENT_TYPES } from "@formbridge/contract";
import type { AuditEvent, ChainedEvent } from "../ports/store.ts";
import { chainEvent, saltedDigest } from "./chain.ts";
import type { Decision } from "./decide/decision.ts";
import { type DomainEvent, payloadOf } from "./events.ts";
import { evolve } from "./evolve.ts";
import type { Hash } from "./hashing.ts";
import { type Instant, toIso } from "./instant.ts";
import type { CompiledIntake } from "./intake/compiled-intake.ts";
import { type Policy, tokenExpiry } from "./policy.ts";
import type { Submission } from "./submission.ts";
import { isTerminal } from "./transitions.ts";

/** Randomness and identity, passed in. */
export interface Mint {
  eventId(): string;
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
  /** Hash of the token to issue; needed when the decision moves the token. */
  nextToken?: Hash;
}

export interface Plan {
  after: Submission;
  events: ChainedEvent[];
  audit: AuditEvent[];
}

/** From a decision to the whole of what is to be written, still without a side effect. */
export function planChange(before: Submission, input: PlanInput): Plan {
  const { decision, now, actor, mint, intake } = input;
  const rotates = decision.token !== "keep";
  const version = before.version + (rotates ? 1 : 0);
  const events: ChainedEvent[] = [];
  let submission = before;
  let { head } = before;
  const ts = toIso(now);
  const actors = createActorDigests(mint);
  for (const event of withHandoff(before, input)) {
    const by = actors(event.by ?? actor);
    submission = evolve(submission, event, { actor, now, version });
    const payload = payloadOf(event, intake);
    const chained = chainEvent(envelope(event.type, { by, payload, submission, version, ts, mint }), head);
    events.push(chained);
    head = chained;
  }
  const after = finish(submission, { input, version, head: { seq: head.seq, hash: head.hash }, rotates });
  return { after, events, audit: rotates ? tokenAudit(before, after, { input, by: actors(actor), ts }) : [] };
}

/** `handoff.resumed` when an agent acts again after a human. */
function withHandoff(before: Submission, { decision, actor }: PlanInput): readonly DomainEvent[] {
  const resumes =
    decision.token === "rotate" &&
    before.version > 0 &&
    actor.kind === "agent" &&
    before.lastUpdatedBy.kind === "human";
  return resumes ? [{ type: "handoff.resumed", after: before.lastUpdatedBy }, ...decision.events] : decision.events;
}

function finish(
  submission: Submission,
  end: { input: PlanInput; version: number; head: { seq: number; hash: Hash }; rotates: boolean },
): Submission {
  const { input, version, head, rotates } = end;
  const { decision, now, actor, intake, policy } = input;
  const next: Submission = { ...submission, version, revision: submission.revision + 1, head };
  if (!rotates) return next;
  const revoking = decision.token === "revoke" || decision.token === "reissue";
  return {
    ...next,
    epoch: submission.epoch + (revoking ? 1 : 0),
    epochSince: revoking ? now : submission.epochSince,
    // Until somebody asks for a new one: a write does not bring tokens back.
    tokensRevoked: decision.token === "revoke" || (decision.token === "rotate" && submission.tokensRevoked),
    updatedAt: now,
    lastUpdatedBy: decision.events[0]?.by ?? actor,
    token: { issuedAt: now, expiresAt: tokenExpiry(next, { now, intake, policy }), seq: head.seq },
  };
}

/** An actor with the salted digest that the chain covers. */
type DigestedActor = Pick<AuditEvent, "actor" | "actorSalt" | "actorDigest">;

function digestActor(actor: Actor, mint: Mint): DigestedActor {
  const actorSalt = mint.salt();
  return { actor, actorSalt, actorDigest: saltedDigest(actorSalt, actor) };
}

/** One digest an actor for all events of a change: that they have the same author is no secret. */
function createActorDigests(mint: Mint): (actor: Actor) => DigestedActor {
  let last: DigestedActor | undefined;
  return (actor) => {
    if (last?.actor !== actor) last = digestActor(actor, mint);
    return last;
  };
}

interface EnvelopeInput {
  by: DigestedActor;
  payload: JsonObject;
  submission: Submission;
  version: number;
  ts: string;
  mint: Mint;
}

function envelope(type: EventType, { by, payload, submission, version, ts, mint }: EnvelopeInput): AuditEvent {
  const payloadSalt = mint.salt();
  return {
    eventId: mint.eventId(),
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

/** An event of the token or idempotency stream about a submission as it stands. */
export function auditEvent(
  type: EventType,
  about: { submission: Submission; by: Actor; payload: JsonObject; now: Instant; mint: Mint },
): AuditEvent {
  const { submission, payload, now, mint } = about;
  const by = digestActor(about.by, mint);
  return envelope(type, { by, payload, submission, version: submission.version, ts: toIso(now), mint });
}

const ROTATION_EVENTS: Partial<Record<string, EventType>> = {
  createSubmission: "token.created",
  reissueToken: "token.created",
  submit: "token.submitted",
  cancel: "token.cancelled",
  expire: "token.expired",
  revokeTokens: "token.expired",
};

/** What the token stream tells of a rotation. Tokens appear by their hashes only. */
function tokenAudit(
  before: Submission,
  after: Submission,
  { input, by, ts }: { input: PlanInput; by: DigestedActor; ts: string },
): AuditEvent[] {
  const { operation, actor, mint, nextToken } = input;
  const write = (type: EventType, payload: JsonObject): AuditEvent =>
    envelope(type, { by, payload, submission: after, version: after.version, ts, mint });
  const audit = [
    write(ROTATION_EVENTS[operation] ?? "token.updated", {
      expiresAt: toIso(after.token.expiresAt),
      newVersion: after.version,
      operation,
      ...(operation === "revokeTokens" && { reason: "admin_revoked" }),
      ...(nextToken !== undefined && { tokenHash: nextToken }),
    }),
  ];
  if (before.version > 0 && before.lastUpdatedBy.kind !== after.lastUpdatedBy.kind) {
    const previous = { kind: before.lastUpdatedBy.kind, id: before.lastUpdatedBy.id };
    audit.push(
      write("token.handed_off", { previousActor: previous, currentActor: { kind: actor.kind, id: actor.id } }),
    );
  }
  if (isTerminal(after.state) && operation !== "expire") {
    audit.push(write("token.expired", { reason: "terminal_state", finalState: after.state }));
  }
  return audit;
}
