import type { Actor } from "@formbridge/contract";
import type { UnchainedEvent } from "../../domain/chained-event.ts";
import type { Decision } from "../../domain/decide/decision.ts";
import { lapsing } from "../../domain/decide/expire.ts";
import { ContractError } from "../../domain/error.ts";
import { collecting } from "../../domain/files/fate.ts";
import { sha256 } from "../../domain/hashing.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { NewJob } from "../../domain/job.ts";
import { hookNoticesOf, noticeKey, noticesOf } from "../../domain/notices/notice.ts";
import { type CallTrace, planChange, withEvents } from "../../domain/plan-change.ts";
import { publishing } from "../../domain/publishing.ts";
import type { Submission } from "../../domain/submission.ts";
import { isEditable } from "../../domain/transitions.ts";
import { EVENTS_WRITTEN } from "../../ports/events.ts";
import { JOBS_DUE } from "../../ports/jobs.ts";
import { type Change, type Committed, type KeyWrite, StoreDown } from "../../ports/store.ts";
import type { Deps } from "../deps.ts";
import { boundToToken, closeRow } from "../read/open-snapshot.ts";
import { measureCommit } from "./measure-commit.ts";

export interface CommitInput {
  operation: string;
  before: Submission;
  decision: Decision;
  actor: Actor;
  now: Instant;
  intake: CompiledIntake;
  /**
   * Called once the state after the change is known, because the recorded response is part of the same commit.
   * `eventId` is the decision's first event.
   */
  keyWrite?: (after: Submission, token: string | undefined, eventId: string | undefined) => KeyWrite;
  audit?: (after: Submission, key: KeyWrite | undefined) => UnchainedEvent[];
  /** How the caller reached the submission; absent if the server acts on its own. */
  trace?: CallTrace;
  /** For writes by the server itself, which may come after the submission's deadline. */
  ignoresDeadline?: true;
  /** A deadline of the write's own, whatever the submission's state. */
  notAfter?: Instant;
}

export interface CommitOutcome {
  committed: Committed;
  after: Submission;
  /** The token that the change issued, if any. */
  token?: string;
}

/** After these, somebody else continues: a person, an agent or the courier. */
const PASSES_ON = new Set(["createHandoff", "submit", "review", "reviewByLink", "retryDelivery"]);

/** Turns a decision into one atomic write: plans, seals and commits it. */
export async function commitDecision(deps: Deps, input: CommitInput): Promise<CommitOutcome> {
  const { before, decision, intake } = input;
  const token = decision.token === "keep" ? undefined : deps.random.resumeToken();
  const tokenHash = token === undefined ? undefined : sha256(token);
  const traceparent = PASSES_ON.has(input.operation) ? deps.tracing.traceparent() : undefined;
  const planned = planChange(before, {
    ...input,
    ...(traceparent !== undefined && { traceparent }),
    policy: deps.settings.policy,
    mint: deps.random,
    ...(tokenHash !== undefined && { nextToken: tokenHash }),
  });
  const key = input.keyWrite?.(planned.after, token, planned.firstEventId);
  const { after, events } = withEvents(planned, input.audit?.(planned.after, key) ?? []);
  const sealed = token === undefined ? undefined : deps.sealer.seal(token, boundToToken(after));
  const row = closeRow(deps.sealer, after, intake);
  const files = collecting(before, after, { now: input.now, policy: deps.settings.policy, events: decision.events });
  const lapse = lapsing(before, after, deps.settings.policy);
  const publish = publishing(before, after, { stored: row.submission, intake });
  const change: Change = {
    tenant: before.tenant,
    expect: expectation(input, deps),
    row,
    ...(tokenHash !== undefined &&
      sealed !== undefined && {
        token: { hash: tokenHash, sealed, epoch: after.epoch, expiresAt: after.token.expiresAt },
      }),
    events,
    ...(key && { key }),
    side: [...(decision.side ?? [])],
    jobs: [...(decision.jobs ?? []), ...files.jobs, ...lapse.jobs, ...noticeJobs(deps, input, after)],
    dropJobs: [...(decision.dropJobs ?? []), ...files.dropJobs, ...lapse.dropJobs],
    ...(decision.erases && { erase: true }),
    ...(decision.redacts && { redact: decision.redacts }),
    ...(publish && { publish }),
  };
  const commit = () => commitTimed(deps, change);
  const about = { "submission.id": after.submissionId, "token.version": after.version };
  const rotates = token !== undefined && before.revision > 0;
  const committed = await (rotates ? deps.tracing.span("rotateToken", commit, about) : commit());
  if (committed.kind === "committed") {
    const ms = input.trace?.responseTimeMs ?? 0;
    measureCommit(deps.instrumentation, { before, after, decision, change, intake, now: input.now, ms });
    if (events.some(({ stream }) => stream === "submission")) deps.wakeups.notify(after.submissionId);
    if (events.length > 0) deps.wakeups.notify(EVENTS_WRITTEN);
    if (change.jobs.some(({ runAt }) => runAt <= committed.at)) deps.wakeups.notify(JOBS_DUE);
  }
  return { committed, after, ...(token !== undefined && { token }) };
}

/** Enqueue notices in the same commit, if a mailer or an operator's webhook is configured. */
function noticeJobs(deps: Deps, { decision, intake, now }: CommitInput, after: Submission): NewJob[] {
  const notices = [
    ...(deps.mailer === undefined ? [] : noticesOf(decision.events, after, intake)),
    ...(deps.notifyUrl === undefined ? [] : hookNoticesOf(decision.events)),
  ];
  return notices.map((notice) => ({
    key: noticeKey(after.submissionId, notice),
    kind: "notify",
    runAt: now,
  }));
}

/** An open submission must still be open, by the store's clock, when the write commits. */
function expectation({ before, ignoresDeadline, notAfter }: CommitInput, deps: Deps): Change["expect"] {
  if (before.revision === 0) return { absent: true };
  if (notAfter !== undefined) return { revision: before.revision, notAfter };
  if (!isEditable(before.state) || ignoresDeadline === true) return { revision: before.revision };
  return { revision: before.revision, notAfter: before.expiresAt + deps.settings.policy.clockSkewMs - 1 };
}

export async function commitTimed(deps: Deps, change: Change): Promise<Committed> {
  const began = performance.now();
  try {
    const committed = await deps.backend.store.commit(change);
    deps.instrumentation.record({ name: "commit", outcome: committed.kind, ms: performance.now() - began });
    return committed;
  } catch (error) {
    deps.instrumentation.record({ name: "commit", outcome: "down", ms: performance.now() - began });
    throw storeError(error);
  }
}

/** A store that is down is a 503; whether the write happened is stated where it is known. */
export function storeError(error: unknown): unknown {
  if (!(error instanceof StoreDown)) return error;
  const message =
    error.outcome === "not_applied"
      ? "The store is not available; nothing was changed."
      : "The store is not available; read the submission to see whether the change was made.";
  return new ContractError("service_unavailable", message, { retryAfterMs: 1000, cause: error });
}
