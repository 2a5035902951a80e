import type { Actor, HandoffKind } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { Handoff } from "../handoffs/handoff.ts";
import { statusOf } from "../handoffs/sessions.ts";
import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";
import { isPast, type Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface CreateHandoff {
  handoffId: string;
  kind: HandoffKind;
  expiresInMs?: number;
  allowedActors?: Actor[];
  recipientEmail?: string;
  message?: string;
  /** Hash of the link's secret, if it has one. */
  link?: Hash;
  sealed?: string;
  madeIn?: string[];
  traceparent?: string;
}

/** How many links of one submission can be open at a time. */
const MAX_OPEN = 20;
/** How many hand-offs are kept, open or not: creating one reads all of them. */
const MAX_KNOWN = 200;

/** Keeps version and token: the caller continues with the token it has. */
export function decideCreateHandoff(
  submission: Submission,
  command: CreateHandoff,
  context: DecideContext & { others: readonly Handoff[] },
): Decision {
  const problem = problemWith(command, context.policy);
  if (problem !== undefined) return refuse(new ContractError("bad_request", problem));
  if (command.kind === "magic_link" && command.recipientEmail === undefined) return refuse(noRecipient());
  const isTokenOver = submission.tokensRevoked || isPast(submission.token.expiresAt, context.now, context.policy);
  if (command.kind === "direct" && isTokenOver) {
    return refuse(conflict(submission, "The token has expired. Reissue it, or use another kind of hand-off."));
  }
  if (context.others.length >= MAX_KNOWN) {
    return refuse(
      conflict(
        submission,
        `The submission has ${MAX_KNOWN} hand-offs, which is the most that are kept. Wait until old ones are removed.`,
      ),
    );
  }
  if (context.others.filter((other) => statusOf(other, submission, context) === "open").length >= MAX_OPEN) {
    return refuse(conflict(submission, `The submission has ${MAX_OPEN} open hand-offs. Revoke one first.`));
  }
  const handoff = handoffOf(submission, command, context);
  const { handoffId, kind, expiresAt, allowedActors } = handoff;
  return {
    events: [{ type: "handoff.link_issued", handoffId, kind, expiresAt, ...(allowedActors && { allowedActors }) }],
    token: "keep",
    side: [{ kind: "handoff", handoff }],
  };
}

const conflict = (submission: Submission, message: string): ContractError =>
  new ContractError("conflict", message, { about: aboutOf(submission) });

function noRecipient(): ContractError {
  const message = "A magic link needs recipientEmail.";
  return new ContractError("bad_request", message, {
    fields: [{ path: "recipientEmail", code: "required", message }],
  });
}

/** Refuse options that would have no effect. */
function problemWith(command: CreateHandoff, policy: Policy): string | undefined {
  const { kind, expiresInMs, allowedActors, message } = command;
  if (kind === "direct" && [expiresInMs, allowedActors, message].some((given) => given !== undefined)) {
    return "A direct link is the token itself: it takes no expiresInMs, allowedActors or message.";
  }
  const { handoffTtlMinMs: min, handoffTtlMaxMs: max } = policy;
  if (expiresInMs !== undefined && (expiresInMs < min || expiresInMs > max)) {
    return `expiresInMs must be between ${min} and ${max}.`;
  }
  return undefined;
}

function handoffOf(submission: Submission, command: CreateHandoff, context: DecideContext): Handoff {
  const { now, actor, policy } = context;
  const { handoffId, kind, allowedActors, link, sealed, madeIn, traceparent } = command;
  const expiresAt = expiryOf(submission, command, context);
  return {
    handoffId,
    tenant: submission.tenant,
    submissionId: submission.submissionId,
    kind,
    createdAt: now,
    createdBy: actor,
    expiresAt,
    epoch: submission.epoch,
    ...(allowedActors && { allowedActors }),
    ...(link !== undefined && { link }),
    ...(kind === "direct" && { version: submission.version }),
    ...(kind === "magic_link" && { code: { triesLeft: policy.codeTries, spent: false } }),
    ...(sealed !== undefined && { sealed }),
    ...(madeIn && { madeIn }),
    ...(traceparent !== undefined && { traceparent }),
    sessions: [],
    forgetAfter: expiresAt,
  };
}

/** No later than the submission itself. */
function expiryOf(
  submission: Submission,
  { kind, expiresInMs }: CreateHandoff,
  { now, policy }: DecideContext,
): Instant {
  if (kind === "direct") return submission.token.expiresAt;
  const usual = { session: policy.sessionTtlMs, qr: policy.qrTtlMs, magic_link: policy.codeTtlMs }[kind];
  return Math.min(now + (expiresInMs ?? usual), submission.expiresAt);
}
