import type { JsonObject } from "@formbridge/contract";
import { EMPTY_HEADS } from "../chain.ts";
import { ContractError } from "../error.ts";
import type { DomainEvent } from "../events.ts";
import { submissionLifetime, warningTime } from "../policy.ts";
import type { Submission } from "../submission.ts";
import type { DecideContext, Decision } from "./decision.ts";
import { patchFields } from "./set-fields.ts";

export interface CreateSubmission {
  tenant: string;
  /** The caller's API key. */
  keyId?: string;
  /** Where the caller is, if known. */
  country?: string;
  initialFields?: Record<string, unknown>;
  ttlMs?: number;
}

/** There is no token before the first commit, which issues it. */
const NO_TOKEN = EMPTY_HEADS.token.hash;

/** One shared object, so that its findings are computed once. */
const NOTHING: JsonObject = {};

/** The submission before its first event, which the decision below adds. */
export function initialSubmission(command: CreateSubmission, context: DecideContext): Submission {
  const { definition, digest } = context.intake;
  const ttlMs = submissionLifetime(definition, context.policy, command.ttlMs);
  return {
    tenant: command.tenant,
    submissionId: context.newId("sub"),
    intakeId: definition.id,
    intakeVersion: definition.version,
    definition: digest,
    state: "draft",
    version: 0,
    revision: 0,
    epoch: 1,
    epochSince: context.now,
    tokensRevoked: false,
    fields: NOTHING,
    sizeBound: 2,
    attribution: { paths: {}, removed: {}, writes: {} },
    missingCount: context.intake.validate(NOTHING).missing.length,
    createdAt: context.now,
    updatedAt: context.now,
    createdBy: context.actor,
    ...(command.keyId !== undefined && { createdByKey: command.keyId }),
    ...(command.country !== undefined && { createdIn: command.country }),
    lastUpdatedBy: context.actor,
    ttlMs,
    expiresAt: context.now + ttlMs,
    warnAt: warningTime(context.now, context.now + ttlMs),
    replayCount: 0,
    uploads: [],
    rejections: [],
    heads: EMPTY_HEADS,
    token: { hash: NO_TOKEN, issuedAt: context.now, expiresAt: context.now, seq: 0 },
  };
}

export function decideCreateSubmission(
  initial: Submission,
  command: CreateSubmission,
  context: DecideContext,
): Decision {
  const { ttlRequestMinMs, ttlRequestMaxMs } = context.policy;
  if (command.ttlMs !== undefined && (command.ttlMs < ttlRequestMinMs || command.ttlMs > ttlRequestMaxMs)) {
    throw new ContractError("bad_request", `ttlMs must be between ${ttlRequestMinMs} and ${ttlRequestMaxMs}.`);
  }
  const created: DomainEvent = {
    type: "submission.created",
    intakeId: initial.intakeId,
    intakeVersion: initial.intakeVersion,
    ttlMs: initial.ttlMs,
    expiresAt: initial.expiresAt,
  };
  const { initialFields = {} } = command;
  if (Object.keys(initialFields).length === 0) return { events: [created], token: "rotate" };
  const filled = patchFields(initial, initialFields, context);
  return filled.refusal === undefined ? { ...filled, events: [created, ...filled.events] } : filled;
}
