import { isDeliverable } from "../../domain/decide/deliver.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "../context.ts";
import { type LoadedSubmission, loadSubmission } from "../read/load-submission.ts";

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
  const notifier = createTimedNotifier(context, submission.submissionId);
  try {
    // The store's clock decides, and may be slower than this process's; but nobody waits for it forever.
    const giveUp = performance.now() + 2 * (until - waiting.now);
    while (true) {
      const found = await loadSubmission(context, submission);
      if (found === undefined || isOver(found.submission)) return found;
      const left = Math.min(until - found.now, giveUp - performance.now());
      if (left <= 0) return found;
      await notifier.notified(Math.min(left, context.deps.settings.watchPollMs));
    }
  } finally {
    notifier.stop();
  }
}

/** Notified of every commit on the submission; a notification while nobody waits is kept. */
function createTimedNotifier({ deps }: Context, submissionId: string) {
  let pending = false;
  let wake: (() => void) | undefined;
  const stop = deps.wakeups.subscribe(submissionId, () => {
    pending = true;
    wake?.();
  });
  return {
    stop,
    /** Resolves at the next notification or when the time is up. */
    async notified(ms: number): Promise<void> {
      let timer: NodeJS.Timeout | undefined;
      if (!pending) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, ms);
        });
      }
      clearTimeout(timer);
      pending = false;
      wake = undefined;
    },
  };
}
