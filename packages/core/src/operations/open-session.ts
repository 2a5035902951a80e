import type { ActorInput, OpenSessionRequest, OpenSessionResponse } from "@formbridge/contract";
import type { DecideContext, Decision } from "../domain/decide/decision.ts";
import { decideFailedCode, decideOpenSession } from "../domain/decide/open-session.ts";
import { ContractError } from "../domain/error.ts";
import type { Handoff } from "../domain/handoffs/handoff.ts";
import { actorOfSession, statusOf, withAddress } from "../domain/handoffs/sessions.ts";
import { sha256 } from "../domain/hashing.ts";
import { toIso } from "../domain/instant.ts";
import type { CompiledIntake } from "../domain/intake/compiled-intake.ts";
import type { Submission } from "../domain/submission.ts";
import { isTerminal } from "../domain/transitions.ts";
import { handoffsIn, type Loaded } from "../ports/store.ts";
import type { Caller } from "./caller.ts";
import { normalize } from "./support/actors.ts";
import { type Answer, answerWith, markOf } from "./support/answer.ts";
import { type CodeGuess, weighCode } from "./support/code-guess.ts";
import { commitDecision } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { expireIfDue } from "./support/expire-due.ts";
import { openNote } from "./support/handoff-links.ts";
import { openRow } from "./support/open-snapshot.ts";
import { countCodeAttempt, countFailedLookup } from "./support/rate-limits.ts";
import { loadSession, unknownSession } from "./support/resolve-target.ts";

export interface OpenSessionCall {
  caller: Caller;
  submissionId: string;
  request: OpenSessionRequest;
}

/** A link or code that was found, and the submission that it leads to. */
interface Opening {
  loaded: Loaded;
  submission: Submission;
  intake: CompiledIntake;
  handoff?: Handoff;
  /** The magic links that a wrong code, or a wrong address, counts against. */
  guessed: readonly Handoff[];
}

const MAX_TRIES = 16;

/**
 * Exchanges what a link carries for a session of one's own. Only a POST does: whoever merely opens links, as mail scanners do, spends
 * nothing. Whatever is wrong with what was presented, the answer is the same.
 */
export async function openSession(context: Context, call: OpenSessionCall): Promise<Answer<OpenSessionResponse>> {
  const { deps } = context;
  const present = presentedBy(context, call);
  if (call.request.code !== undefined) await countCodeAttempt(deps, call.caller);
  const secret = deps.random.session();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const opening = await present();
    if (opening !== undefined && (await expireIfDue(deps, { ...opening, now: opening.loaded.now }))) continue;
    if (opening?.handoff === undefined) {
      if (opening !== undefined && opening.guessed.length > 0 && !(await recordGuess(context, opening))) continue;
      await countFailedLookup(deps, call.caller);
      throw unknownSession();
    }
    const answer = await openOne(context, call, { ...opening, handoff: opening.handoff, secret });
    if (answer !== undefined) return answer;
  }
  throw new ContractError("service_unavailable", "The submission changes too fast.", { retryAfterMs: 100 });
}

/** What was presented, looked up anew at each try: the session of a link, or a code with an address. */
function presentedBy(context: Context, { caller, submissionId, request }: OpenSessionCall) {
  const { deps } = context;
  const { session, code, email } = request;
  if (session !== undefined && code === undefined && email === undefined) {
    return async (): Promise<Opening | undefined> => {
      const loaded = await loadSession({ deps, caller }, session);
      const { handoff, submission } = loaded;
      const isLink = handoff?.link === sha256(session) && submission?.submission.submissionId === submissionId;
      return isLink ? await opened(context, loaded, { handoff, guessed: [] }) : undefined;
    };
  }
  if (session !== undefined || code === undefined || email === undefined) {
    throw new ContractError("bad_request", "Send session, or code and email.");
  }
  return (): Promise<Opening | undefined> => byCode(context, submissionId, { code, email });
}

async function byCode(context: Context, submissionId: string, guess: CodeGuess): Promise<Opening | undefined> {
  const { store, handoffs } = context.deps.backend;
  const [first] = await handoffs.ofSubmission(submissionId);
  if (first === undefined) return undefined;
  const loaded = await store.load({ by: { id: submissionId, tenant: first.tenant } });
  // After the submission: what changes from here on, its revision tells.
  const candidates = await handoffs.ofSubmission(submissionId);
  const { met, missed } = weighCode(context.deps.sealer, candidates, guess);
  return await opened(context, loaded, { ...(met && { handoff: met }), guessed: missed });
}

async function opened(
  { deps, catalog }: Context,
  loaded: Loaded,
  found: { handoff?: Handoff | undefined; guessed: readonly Handoff[] },
): Promise<Opening | undefined> {
  if (loaded.submission === undefined) return undefined;
  const submission = openRow(deps.sealer, loaded.submission);
  const { handoff } = found;
  const clock = { now: loaded.now, policy: deps.settings.policy };
  // What is over anyway needs no counting.
  const guessed = isTerminal(submission.state)
    ? []
    : found.guessed.filter((missed) => statusOf(missed, submission, clock) === "open");
  const intake = await catalog.byDigest(submission.definition);
  return { loaded, submission, intake, guessed, ...(handoff && { handoff }) };
}

/** Undefined: the ground moved, look again. */
async function openOne(
  context: Context,
  { request }: OpenSessionCall,
  opening: Opening & { handoff: Handoff; secret: string },
): Promise<Answer<OpenSessionResponse> | undefined> {
  const { deps } = context;
  const { handoff, submission, intake, secret, loaded } = opening;
  const { now } = loaded;
  const note = openNote(deps.sealer, handoff);
  const given = request.actor === undefined ? undefined : normalize(request.actor as ActorInput);
  const named = actorOfSession(handoff, given, note.email ?? handoff.handoffId);
  const actor = withAddress(named, handoff.kind === "magic_link" ? note.email : undefined);
  const decideContext = contextOf(context, opening, actor);
  const decision = decideOpenSession(submission, { handoff, actor, hash: sha256(secret) }, decideContext);
  if (decision.refusal !== undefined) throw decision.refusal;
  const after = await committed(context, { opening, decision, actor });
  const expiresAt = handoffsIn(decision.side)[0]?.sessions.at(-1)?.expiresAt;
  if (after === undefined || expiresAt === undefined) return undefined;
  const shown = { submission: after, intake, now, policy: deps.settings.policy };
  const byHeader = request.carrier === "header";
  const body: OpenSessionResponse = {
    ...markOf(shown),
    handoffId: handoff.handoffId,
    actor,
    expiresAt: toIso(expiresAt),
    ...(note.message !== undefined && { message: note.message }),
    ...(byHeader && { session: secret }),
  };
  const cookie = { session: secret, submissionId: submission.submissionId, ttlMs: expiresAt - now };
  return { ...answerWith(body, shown), created: true, ...(!byHeader && { opened: cookie }) };
}

const contextOf = ({ deps }: Context, { intake, loaded }: Opening, actor: DecideContext["actor"]): DecideContext => ({
  now: loaded.now,
  actor,
  provenHuman: false,
  intake,
  policy: deps.settings.policy,
  newId: (prefix) => deps.random.newId(prefix),
});

async function committed(
  { deps }: Context,
  made: { opening: Opening; decision: Decision; actor: DecideContext["actor"] },
): Promise<Submission | undefined> {
  const { opening, decision, actor } = made;
  const { submission: before, intake, loaded } = opening;
  const { now } = loaded;
  const outcome = await commitDecision(deps, { operation: "openSession", before, decision, actor, now, intake });
  return outcome.committed.kind === "committed" ? outcome.after : undefined;
}

const GUESSER = { kind: "human", id: "code_bearer", declared: true } as const;

/** False: the ground moved, and the try is not counted yet. */
async function recordGuess(context: Context, opening: Opening): Promise<boolean> {
  const decision = decideFailedCode(opening.guessed);
  return (await committed(context, { opening, decision, actor: GUESSER })) !== undefined;
}
