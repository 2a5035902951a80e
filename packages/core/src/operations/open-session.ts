import type { NextAction, OpenSessionRequest, OpenSessionResponse } from "@formbridge/contract";
import type { DecideContext, Decision } from "../domain/decide/decision.ts";
import { decideFailedCode, decideOpenSession, linkClosed } from "../domain/decide/open-session.ts";
import { ContractError } from "../domain/error.ts";
import type { Handoff } from "../domain/handoffs/handoff.ts";
import { actorOfSession, statusOf, withAddress } from "../domain/handoffs/sessions.ts";
import { sha256 } from "../domain/hashing.ts";
import { toIso } from "../domain/instant.ts";
import type { CompiledIntake } from "../domain/intake/compiled-intake.ts";
import { handoffsIn } from "../domain/side-row.ts";
import type { Submission } from "../domain/submission.ts";
import { aboutOf } from "../domain/tokens/refuse-ended.ts";
import { isTerminal } from "../domain/transitions.ts";
import type { Loaded } from "../ports/store.ts";
import { traceOf } from "./audit/call-trace.ts";
import { noteFailedUse } from "./audit/note-use.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { normalize, withProof } from "./identity/actors.ts";
import { countCodeAttempt, countFailedLookup } from "./identity/rate-limits.ts";
import { loadSession, unknownSession } from "./identity/resolve-target.ts";
import { type CodeGuess, weighCode } from "./links/code-guess.ts";
import { openNote } from "./links/handoff-links.ts";
import { openRow } from "./read/open-snapshot.ts";
import { markOf, type OperationResponse, respondWith, show } from "./read/response.ts";
import { commitDecision } from "./write/commit.ts";
import { decideContextOf } from "./write/decide-context.ts";
import { expireIfDue } from "./write/expire-due.ts";
import { tellingTo, tooFast } from "./write/refusals.ts";

export interface OpenSessionCall {
  caller: Caller;
  submissionId: string;
  request: OpenSessionRequest;
}

/** A link or code that was found, and its submission. */
interface Opening {
  loaded: Loaded;
  submission: Submission;
  intake: CompiledIntake;
  handoff?: Handoff;
  /** The magic links that a wrong code or address counts against. */
  guessed: readonly Handoff[];
}

const MAX_TRIES = 16;

/**
 * Exchanges a link's secret for a new session. Only by POST, so that merely opening links, as mail scanners do, doesn't
 * use them up. The error is the same whatever is wrong.
 */
export async function openSession(
  context: Context,
  call: OpenSessionCall,
): Promise<OperationResponse<OpenSessionResponse>> {
  const { deps } = context;
  const present = presentedBy(context, call);
  await context.watch.refuseBlocked(call.caller);
  if (call.request.code !== undefined) await countCodeAttempt(deps, call.caller);
  const secret = deps.random.session();
  let seen: Submission | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const opening = await present();
    if (opening !== undefined && (await expireIfDue(deps, { ...opening, now: opening.loaded.now }))) continue;
    if (opening?.handoff === undefined) {
      if (opening !== undefined && opening.guessed.length > 0 && !(await recordGuess(context, call, opening))) continue;
      await countFailedLookup(deps, call.caller);
      throw unknownSession();
    }
    const answer = await openTold(context, call, { ...opening, handoff: opening.handoff, secret });
    if (answer !== undefined) return answer;
    seen = opening.submission;
  }
  const nextActions: NextAction[] = [{ action: "fetch_current_state", hint: "Wait, then send the same call again." }];
  throw tooFast({ ...(seen && { about: aboutOf(seen) }), nextActions });
}

type FoundOpening = Opening & { handoff: Handoff; secret: string };

/** A person with a working link may see its submission; an ended one only reveals that it existed. */
async function openTold(
  context: Context,
  call: OpenSessionCall,
  opening: FoundOpening,
): Promise<OperationResponse<OpenSessionResponse> | undefined> {
  const { deps } = context;
  const { handoff, submission, intake, loaded } = opening;
  const closed = linkClosed(submission, handoff, { now: loaded.now, policy: deps.settings.policy });
  const refused = { submission, intake, learns: closed === undefined ? "all" : "id" } as const;
  return await tellingTo(deps, refused, () => {
    if (closed === undefined) return openOne(context, call, opening);
    const found = { submission, now: loaded.now, session: { handoff } };
    noteFailedUse(context, { caller: call.caller, operation: "openSession", found }, closed.reason);
    throw closed.error;
  });
}

/** Looks up what was presented, again on each try: a link's session, or a code with an address. */
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
  // Read after the submission, so that later changes show in its revision.
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
  // An ended submission needs no counting.
  const guessed = isTerminal(submission.state)
    ? []
    : found.guessed.filter((missed) => statusOf(missed, submission, clock) === "open");
  deps.tracing.join(handoff?.traceparent);
  const intake = await catalog.byDigest(submission.definition);
  return { loaded, submission, intake, guessed, ...(handoff && { handoff }) };
}

/** Undefined if the submission changed meanwhile: load again. */
async function openOne(
  context: Context,
  call: OpenSessionCall,
  opening: FoundOpening,
): Promise<OperationResponse<OpenSessionResponse> | undefined> {
  const { deps } = context;
  const { request } = call;
  const { handoff, submission, intake, secret, loaded } = opening;
  const { now } = loaded;
  const note = openNote(deps.sealer, handoff);
  const given = request.actor === undefined ? undefined : normalize(request.actor);
  const named = actorOfSession(handoff, given, note.email ?? handoff.handoffId);
  const byCode = handoff.kind === "magic_link";
  const actor = withProof(withAddress(named, byCode ? note.email : undefined), byCode ? "code" : "link");
  const decideContext = decideContextOf(deps, { now, actor, intake });
  const decision = decideOpenSession(submission, { handoff, actor, hash: sha256(secret) }, decideContext);
  if (decision.refusal !== undefined) throw decision.refusal;
  const after = await committed(context, { call, opening, decision, actor });
  const expiresAt = handoffsIn(decision.side)[0]?.sessions.at(-1)?.expiresAt;
  if (after === undefined || expiresAt === undefined) return undefined;
  const shown = show(deps, { submission: after, intake, now });
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
  return { ...respondWith(body, shown), created: true, ...(!byHeader && { opened: cookie }) };
}

async function committed(
  context: Context,
  made: { call: OpenSessionCall; opening: Opening; decision: Decision; actor: DecideContext["actor"]; failed?: true },
): Promise<Submission | undefined> {
  const { call, opening, decision, actor } = made;
  const { submission: before, intake, loaded } = opening;
  const operation = made.failed === true ? "failedCode" : "openSession";
  const about = { operation, before, decision, actor, now: loaded.now, intake, trace: traceOf(context, call.caller) };
  const outcome = await commitDecision(context.deps, about);
  return outcome.committed.kind === "committed" ? outcome.after : undefined;
}

const GUESSER = { kind: "human", id: "code_bearer", declared: true } as const;

/** False if the submission changed meanwhile and the attempt isn't counted yet. */
async function recordGuess(context: Context, call: OpenSessionCall, opening: Opening): Promise<boolean> {
  const decision = decideFailedCode(opening.guessed);
  return (await committed(context, { call, opening, decision, actor: GUESSER, failed: true })) !== undefined;
}
