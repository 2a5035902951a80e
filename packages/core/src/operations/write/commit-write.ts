import type { Decision } from "../../domain/decide/decision.ts";
import { isDeliverable } from "../../domain/decide/deliver.ts";
import type { ContractError } from "../../domain/error.ts";
import type { Hash } from "../../domain/hashing.ts";
import type { Submission } from "../../domain/submission.ts";
import { traceOf } from "../audit/call-trace.ts";
import { observe } from "../audit/note-use.ts";
import { awaitFirstDelivery } from "../delivery/first-delivery.ts";
import { keyAudit, keyWrite } from "../idempotency/keyed.ts";
import { recordedAnswer } from "../idempotency/replay-write.ts";
import { mayHoldToken } from "../identity/access.ts";
import { heldBy, liveToken, tokenFor } from "../identity/held-token.ts";
import { type OperationResponse, respondWith, type Shown, show } from "../read/response.ts";
import { commitDecision } from "./commit.ts";
import { tell } from "./refusals.ts";
import { type Attempt, carriedVersion, principalName, type WriteResponse, waitOf } from "./write-spec.ts";

/** Commits a decision with its recorded response. Undefined if the submission changed meanwhile: load again. */
export async function commitWrite<Body extends object>(
  attempt: Attempt<Body>,
  decision: Decision,
  replaces: Hash | undefined,
): Promise<WriteResponse<Body> | undefined> {
  const { context, found, actor, key } = attempt;
  const outcome = await commitDecision(context.deps, {
    operation: attempt.spec.operation,
    before: found.submission,
    decision,
    actor,
    now: found.now,
    intake: found.intake,
    trace: traceOf(context, attempt.call.caller, found),
    ...(key && {
      keyWrite: (after, token, eventId) => record(attempt, { decision, after, token, eventId, replaces }),
      audit: (after, written) => keyAudit(context.deps, written, { submission: after, by: actor, now: found.now }),
    }),
  });
  if (outcome.committed.kind !== "committed") return undefined;
  context.facts.version = outcome.after.version;
  observe(context, { caller: attempt.call.caller, found }, { outcome: "used", writer: actor.kind });
  const refusal = refusalOf(attempt, decision, outcome.after);
  if (refusal !== undefined) throw refusal;
  const shown = shownTo(attempt, outcome.after, outcome.token);
  const answer = respondWith(bodyOf(attempt, shown), shown);
  const wait = waitOf(attempt);
  if (attempt.spec.awaitsDelivery !== true || !isDeliverable(outcome.after) || wait <= 0) return answer;
  return { ...answer, later: () => afterDelivery(attempt, { answer, after: outcome.after }) };
}

/**
 * The response with the outcome of the first delivery, from the record if there is one, so that every retry returns the
 * same.
 */
async function afterDelivery<Body extends object>(
  attempt: Attempt<Body>,
  { answer, after }: { answer: OperationResponse<Body>; after: Submission },
): Promise<OperationResponse<Body>> {
  const { context, found, key } = attempt;
  const until = after.delivery?.answer?.by ?? found.now + waitOf(attempt);
  const then = await awaitFirstDelivery(context, { submission: after, now: found.now, until });
  if (then === undefined) return answer;
  if (key !== undefined) return (await recordedAnswer(attempt, key.ref)) ?? answer;
  // A caller whose token was revoked meanwhile isn't given another.
  const { token: _revoked, ...tokenless } = found;
  const sees = { ...attempt, found: then.submission.epoch === after.epoch ? found : tokenless };
  const shown = shownTo(sees, then.submission, liveToken(context.deps, then));
  return respondWith(bodyOf(attempt, shown), shown);
}

interface Made {
  decision: Decision;
  after: Submission;
  token: string | undefined;
  eventId: string | undefined;
  replaces: Hash | undefined;
}

function record<Body extends object>(attempt: Attempt<Body>, made: Made) {
  const { context, call, found, key } = attempt;
  if (key === undefined) throw new Error("a response is recorded only under an idempotency key");
  const refusal = refusalOf(attempt, made.decision, made.after);
  return keyWrite(context.deps, {
    ...key,
    principal: principalName(found),
    carriedVersion: carriedVersion(attempt),
    failed: refusal !== undefined,
    answer:
      refusal === undefined
        ? { body: bodyOf(attempt, shownTo(attempt, made.after, made.token)) }
        : { error: refusal.detail, about: refusal.about },
    eventId: made.eventId,
    submission: made.after,
    intake: found.intake,
    now: found.now,
    ...(made.after.delivery?.answer && { answerBy: made.after.delivery.answer.by }),
    ...(call.idempotencyTtlMs !== undefined && { ttlMs: call.idempotencyTtlMs }),
    ...(made.replaces !== undefined && { replaces: made.replaces }),
  });
}

/** A refusal that was committed anyway: a failed submit or upload. */
function refusalOf(attempt: Attempt<object>, decision: Decision, after: Submission): ContractError | undefined {
  return decision.refusal?.withAbout({
    ...tell(attempt.context.deps, after, tokenFor(attempt.context.deps, attempt.found)),
    ...(attempt.key && { idempotent: false }),
  });
}

const bodyOf = <Body extends object>({ spec, actor, key }: Attempt<Body>, shown: Shown): Body => ({
  ...spec.body(shown, actor),
  ...(key && { _idempotent: false }),
});

/** The new token goes to callers who held the previous one, and to API keys that may hold it. */
function shownTo({ context, found }: Attempt<object>, after: Submission, token: string | undefined): Shown {
  const { deps } = context;
  const seen = { ...found, submission: after };
  const holds = found.token?.status === "current" || mayHoldToken(found.principal, found.submission);
  if (!holds || after.tokensRevoked) return show(deps, seen);
  return show(deps, seen, token === undefined ? heldBy(deps, found) : { token });
}
