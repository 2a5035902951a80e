import type { Actor } from "@formbridge/contract";
import type { Decision } from "../../domain/decide/decision.ts";
import { ContractError } from "../../domain/error.ts";
import { collecting } from "../../domain/files/fate.ts";
import { sha256 } from "../../domain/hashing.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { hookNoticesOf, noticeKey, noticesOf } from "../../domain/notices/notice.ts";
import { auditEvent, planChange } from "../../domain/plan-change.ts";
import type { Submission } from "../../domain/submission.ts";
import { isEditable } from "../../domain/transitions.ts";
import { EVENTS_WRITTEN } from "../../ports/events.ts";
import { JOBS_DUE } from "../../ports/jobs.ts";
import {
  type AuditEvent,
  type Change,
  type Committed,
  type KeyWrite,
  type NewJob,
  StoreDown,
} from "../../ports/store.ts";
import type { Deps } from "../deps.ts";
import { boundToToken, closeRow } from "./open-snapshot.ts";
import { stepEnd } from "./step-end.ts";

export interface CommitInput {
  operation: string;
  before: Submission;
  decision: Decision;
  actor: Actor;
  now: Instant;
  intake: CompiledIntake;
  /** Made once the state after the change is known: the recorded answer is part of the same commit. */
  keyWrite?: (after: Submission, token: string | undefined) => KeyWrite;
  audit?: (after: Submission) => AuditEvent[];
  /** For writes that are not a caller's: they may come after the submission's time. */
  ignoresDeadline?: true;
  /** A deadline of the write's own, whatever state the submission is in. */
  notAfter?: Instant;
}

export interface CommitOutcome {
  committed: Committed;
  after: Submission;
  /** The token that the change issued, if it moved the token. */
  token?: string;
}

/** A decision becomes one atomic write: planned, sealed and sent, each as a step of its own. */
export async function commitDecision(deps: Deps, input: CommitInput): Promise<CommitOutcome> {
  await stepEnd;
  const { before, decision, intake } = input;
  const token = decision.token === "keep" ? undefined : deps.random.resumeToken();
  const tokenHash = token === undefined ? undefined : sha256(token);
  const mint = { eventId: () => deps.random.newId("evt"), salt: () => deps.random.salt() };
  const plan = planChange(before, {
    ...input,
    policy: deps.settings.policy,
    mint,
    ...(tokenHash !== undefined && { nextToken: tokenHash }),
  });
  await stepEnd;
  const { after } = plan;
  const sealed = token === undefined ? undefined : deps.sealer.seal(token, boundToToken(after));
  const row = closeRow(deps.sealer, after, intake);
  await stepEnd;
  const files = collecting(before, after, { now: input.now, policy: deps.settings.policy });
  const told = (decision.audit ?? []).map(({ type, payload }) =>
    auditEvent(type, { submission: after, by: input.actor, payload, now: input.now, mint }),
  );
  const change: Change = {
    tenant: before.tenant,
    expect: expectation(input, deps),
    row,
    ...(tokenHash !== undefined &&
      sealed !== undefined && {
        token: { hash: tokenHash, sealed, epoch: after.epoch, expiresAt: after.token.expiresAt },
      }),
    events: plan.events,
    audit: [...plan.audit, ...told, ...(input.audit?.(after) ?? [])],
    ...(input.keyWrite && { key: input.keyWrite(after, token) }),
    side: [...(decision.side ?? [])],
    jobs: [...(decision.jobs ?? []), ...files.jobs, ...noticeJobs(deps, input, after)],
    dropJobs: [...(decision.dropJobs ?? []), ...files.dropJobs],
    ...(decision.erases && { erase: true }),
  };
  const committed = await commitTimed(deps, change);
  if (committed.kind === "committed") {
    if (plan.events.length > 0) deps.wakeups.notify(after.submissionId);
    if (plan.events.length + change.audit.length > 0) deps.wakeups.notify(EVENTS_WRITTEN);
    if (change.jobs.some(({ runAt }) => runAt <= committed.at)) deps.wakeups.notify(JOBS_DUE);
  }
  return { committed, after, ...(token !== undefined && { token }) };
}

/** Whoever is to be told is told by jobs of the same commit; without a mailer or a webhook for that nobody is. */
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

/** An open submission must still be open, by the store's clock, when the write lands. */
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

/** A store that can't answer is a 503; whether the write happened is told where it is known. */
export function storeError(error: unknown): unknown {
  if (!(error instanceof StoreDown)) return error;
  const message =
    error.outcome === "not_applied"
      ? "The store is not available; nothing was changed."
      : "The store is not available; read the submission to see whether the change was made.";
  return new ContractError("service_unavailable", message, { retryAfterMs: 1000, cause: error });
}
