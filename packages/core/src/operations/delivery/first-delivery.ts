import { isDeliverable } from "../../domain/decide/deliver.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "../context.ts";
import { type LoadedSubmission, loadSubmission } from "../read/load-submission.ts";
import { createNotifier } from "../read/notifier.ts";

/** Whether the first attempt has ended, or there will be none. */
const isOver = (submission: Submission): boolean =>
  !isDeliverable(submission) || (submission.delivery.attemptCount > 0 && submission.delivery.inFlight !== true);

/** `until` is by the store's clock. */
export interface Waiting {
  submission: { tenant: string; submissionId: string };
  now: Instant;
  until: Instant;
}

/** Waits until the first delivery attempt has ended or the time is up, and returns the submission as it is then. */
export async function awaitFirstDelivery(context: Context, waiting: Waiting): Promise<LoadedSubmission | undefined> {
  const { submission, until } = waiting;
  const notifier = createNotifier();
  const unsubscribe = context.deps.wakeups.subscribe(submission.submissionId, notifier.notify);
  try {
    // The store's clock decides. In case it runs much slower than this process's, give up by our own clock.
    const giveUp = performance.now() + 2 * (until - waiting.now);
    while (true) {
      const found = await loadSubmission(context, submission);
      if (found === undefined || isOver(found.submission)) return found;
      const left = Math.min(until - found.now, giveUp - performance.now());
      if (left <= 0) return found;
      await notifier.notified(Math.min(left, context.deps.settings.watchPollMs));
    }
  } finally {
    unsubscribe();
  }
}
