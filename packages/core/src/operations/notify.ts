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
import { decideReviewLink, gateOf } from "../domain/review/link-standing.ts";
import { barredFrom } from "../domain/review/reviewers.ts";
import { isEditable } from "../domain/transitions.ts";
import type { Receipt } from "../ports/courier.ts";
import type { Job } from "../ports/jobs.ts";
import { type Mail, MailRefused } from "../ports/mailer.ts";
import { expiryLetter, finishedLetter, rejectionLetter } from "./mails/progress.ts";
import { type Letter, render } from "./mails/render.ts";
import { type Asked, escalationLetter, reviewLetter } from "./mails/reviews.ts";
import { actOnLatest } from "./support/act-on-latest.ts";
import { contactOf } from "./support/contact.ts";
import type { Context } from "./support/context.ts";
import { loadOpened, type Opened } from "./support/load-opened.ts";
import { noticeParcel } from "./support/notice-parcel.ts";

const POSTMASTER = { kind: "system", id: "postmaster" } as const;
/** Eight attempts over about a day: after that, nobody waits for the news. */
const RETRIES = { maxAttempts: 8, initialDelayMs: 10_000, maxDelayMs: 21_600_000, factor: 4, jitter: true };

/**
 * Tells one person one thing by mail, or a program by a webhook. What has passed by the time that it would be told is not told. At least once: a worker that
 * dies after sending sends again.
 */
export async function notify(context: Context, job: Job, signal: AbortSignal): Promise<void> {
  const notice = readNotice(job.key);
  try {
    if (notice?.what === "hook") await callHook(context, job, { notice, signal });
    else if (notice !== undefined) await sendMail(context, job, notice);
  } catch (cause) {
    // Whatever failed, be it ours: what can't be told has its last attempt, too.
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

/** The operator's webhook did not take it. */
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
  const found = url === undefined ? undefined : await loadOpened(context, job);
  const parcel = found && url !== undefined ? noticeParcel(context.deps, job, { notice, found, url }) : undefined;
  const receipt = parcel && (await courier.send(parcel, signal));
  if (receipt?.kind === "failed") throw new HookFailed(receipt);
}

type MailNotice = Exclude<Notice, HookNotice>;

/** The mail as things stand; undefined when there is nothing to tell, or nobody to tell it to. */
async function compose(context: Context, job: Job, notice: MailNotice): Promise<Mail | undefined> {
  if ("gateIndex" in notice) return await askToReview(context, job, notice);
  const found = await loadOpened(context, job);
  const letter = found && progressLetter(found, notice.what);
  const to = letter && (await contactOf(context, found.submission));
  return letter === undefined || to === undefined ? undefined : { to, ...render(letter) };
}

function progressLetter(
  { submission, intake }: Opened,
  what: "rejected" | "finalized" | "expiring",
): Letter | undefined {
  const about = { intake: intake.definition.name, submissionId: submission.submissionId };
  const until = submission.expiresAt;
  switch (what) {
    case "rejected": {
      const { reasons } = submission.rejections.at(-1) ?? {};
      return submission.state === "rejected" && reasons ? rejectionLetter({ ...about, reasons, until }) : undefined;
    }
    case "finalized":
      return submission.state === "finalized" ? finishedLetter(about) : undefined;
    case "expiring":
      return isEditable(submission.state) ? expiryLetter({ ...about, until }) : undefined;
  }
}

/**
 * Makes the link and commits it, then hands over its mail: nothing but the mail holds the link in clear. A try that fails leaves a
 * link that nobody has; the next one takes its place.
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
        gate: gate.name,
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
