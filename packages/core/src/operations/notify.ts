import { retryDelay } from "../domain/delivery/retry-delay.ts";
import { sha256 } from "../domain/hashing.ts";
import {
  addressesOf,
  type HookNotice,
  linkActor,
  type Notice,
  type ReviewNotice,
  readNotice,
} from "../domain/notices/notice.ts";
import { decideReviewLink } from "../domain/review/link-standing.ts";
import { barredFrom, gateOf } from "../domain/review/reviewers.ts";
import { isEditable } from "../domain/transitions.ts";
import type { Receipt } from "../ports/courier.ts";
import type { Job } from "../ports/jobs.ts";
import { type Mail, MailRefused } from "../ports/mailer.ts";
import type { Context } from "./context.ts";
import { contactOf } from "./notices/contact.ts";
import { outgoingNotice } from "./notices/outgoing-notice.ts";
import { expiryLetter, finishedLetter, rejectionLetter } from "./notices/progress.ts";
import { type Letter, render } from "./notices/render.ts";
import { type Asked, escalationLetter, reviewLetter } from "./notices/reviews.ts";
import { type LoadedSubmission, loadSubmission } from "./read/load-submission.ts";
import { actOnLatest } from "./write/act-on-latest.ts";

const POSTMASTER = { kind: "system", id: "postmaster" } as const;
/** Eight attempts over about a day; after that the notice is outdated. */
const RETRIES = { maxAttempts: 8, initialDelayMs: 10_000, maxDelayMs: 21_600_000, factor: 4, jitter: true };

/**
 * Sends one notice, by mail or to the operator's webhook, unless it is outdated by then. At least once: a worker that
 * dies after sending sends again.
 */
export async function notify(context: Context, job: Job, signal: AbortSignal): Promise<void> {
  const notice = readNotice(job.key);
  try {
    if (notice?.what === "hook") await callHook(context, job, { notice, signal });
    else if (notice !== undefined) await sendMail(context, job, notice);
  } catch (cause) {
    // Whatever failed, even a bug of ours, counts as an attempt.
    await postpone(context, job, cause);
    throw cause;
  }
  await context.deps.backend.jobs.settle(job, "done");
}

async function sendMail(context: Context, job: Job, notice: MailNotice): Promise<void> {
  const { mailer, instrumentation } = context.deps;
  if (mailer === undefined) return;
  const mail = await compose(context, job, notice);
  if (mail === undefined) return;
  await mailer.send(mail);
  instrumentation.record({ name: "notice", outcome: "sent" });
}

/** The operator's webhook didn't accept it. */
class HookFailed extends Error {
  readonly failure: { final?: true; retryAfterMs?: number };

  constructor({ error, ...failure }: Receipt & { kind: "failed" }) {
    super(error);
    this.name = "HookFailed";
    this.failure = failure;
  }
}

async function postpone({ deps }: Context, job: Job, cause: unknown): Promise<void> {
  const { final = cause instanceof MailRefused, retryAfterMs } = cause instanceof HookFailed ? cause.failure : {};
  const failed = {
    tries: job.attempt,
    chance: deps.random.chance(),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  const delay = final ? undefined : retryDelay(RETRIES, failed);
  deps.instrumentation.record({ name: "notice", outcome: delay === undefined ? "given_up" : "failed" });
  const now = await deps.backend.deadlines.now();
  await deps.backend.jobs.settle(job, delay === undefined ? "done" : { retryAt: now + delay });
}

async function callHook(
  context: Context,
  job: Job,
  { notice, signal }: { notice: HookNotice; signal: AbortSignal },
): Promise<void> {
  const { courier, notifyUrl: url } = context.deps;
  const found = url === undefined ? undefined : await loadSubmission(context, job);
  const outgoing = found && url !== undefined ? outgoingNotice(context.deps, job, { notice, found, url }) : undefined;
  const receipt = outgoing && (await courier.send(outgoing, signal));
  if (receipt?.kind === "failed") throw new HookFailed(receipt);
  if (receipt !== undefined) context.deps.instrumentation.record({ name: "notice", outcome: "sent" });
}

type MailNotice = Exclude<Notice, HookNotice>;

/** The mail for the current state; undefined if there is nothing to say, or nobody to send it to. */
async function compose(context: Context, job: Job, notice: MailNotice): Promise<Mail | undefined> {
  if ("gateIndex" in notice) return await askToReview(context, job, notice);
  const found = await loadSubmission(context, job);
  const letter = found && progressLetter(found, notice.what);
  const to = letter && (await contactOf(context, found.submission));
  return letter === undefined || to === undefined ? undefined : { to, ...render(letter) };
}

function progressLetter(
  { submission, intake }: LoadedSubmission,
  what: "rejected" | "finalized" | "expiring",
): Letter | undefined {
  const about = { intake: intake.definition.name, submissionId: submission.submissionId };
  const until = submission.expiresAt;
  switch (what) {
    case "rejected": {
      const last = submission.rejections.at(-1);
      if (submission.state !== "rejected" || last === undefined) return undefined;
      const ofFields = Object.entries(last.fieldReasons ?? {}).map(([path, reason]) => `${path}: ${reason}`);
      return rejectionLetter({ ...about, reasons: [...last.reasons, ...ofFields], until });
    }
    case "finalized":
      return submission.state === "finalized" ? finishedLetter(about) : undefined;
    case "expiring":
      return isEditable(submission.state) ? expiryLetter({ ...about, until }) : undefined;
  }
}

/**
 * Commits the link, then mails it: only the mail contains the link in clear. A failed attempt leaves a link that nobody
 * has; the next one replaces it.
 */
async function askToReview(context: Context, job: Job, notice: ReviewNotice): Promise<Mail | undefined> {
  const { deps } = context;
  let mail: Mail | undefined;
  const made = await actOnLatest(context, job, {
    operation: "notify",
    actor: POSTMASTER,
    decide({ submission, intake, now }) {
      if (submission.state !== "needs_review") return undefined;
      const gate = gateOf(submission, intake.definition.approvalGates);
      const email = addressesOf(gate, notice.what)[notice.reviewer];
      if (submission.review.gateIndex !== notice.gateIndex || email === undefined) return undefined;
      if (barredFrom(submission, gate, { actor: linkActor(email), roles: [] }) !== undefined) return undefined;
      const secret = deps.random.reviewLink();
      const link = { email, hash: sha256(secret) };
      const decision = decideReviewLink(submission, link, { now, policy: deps.settings.policy });
      const asked: Asked = {
        intake: intake.definition.name,
        gate: gate.label ?? gate.name,
        submissionId: submission.submissionId,
        requestedAt: submission.review.requestedAt,
        url: `${deps.publicUrl()}/reviews/${secret}`,
        expiresAt: decision.link.expiresAt,
      };
      mail = { to: email, ...render(notice.what === "review" ? reviewLetter(asked) : escalationLetter(asked)) };
      return { decision };
    },
  });
  return made && mail;
}
