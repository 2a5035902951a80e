import { toIso } from "../domain/instant.ts";
import type { Submission } from "../domain/submission.ts";
import { isTerminal } from "../domain/transitions.ts";
import type { Context } from "./context.ts";
import { type GetSubmissionCall, getSubmission, type SubmissionRead } from "./get-submission.ts";
import { createNotifier } from "./read/notifier.ts";
import { peek, runRead } from "./read/run-read.ts";

export interface AwaitChangeCall extends GetSubmissionCall {
  /** The version that the caller knows; defaults to its token's, or else the current one. */
  sinceVersion?: number;
  waitMs: number;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /** Called when nothing has changed yet and the wait begins. */
  onWaiting?: () => void;
}

export interface ChangeRead extends SubmissionRead {
  /** False if it is as the caller knows it. */
  changed: boolean;
}

interface Known extends Pick<Submission, "version" | "state"> {
  /** When a hand-off was last completed. */
  completedAt: string | undefined;
}
const differs = ({ version, state, completedAt }: Known, known: Known): boolean =>
  version !== known.version || state !== known.state || completedAt !== known.completedAt || isTerminal(state);

const knownOf = ({ version, state, completedHandoff }: Submission): Known => ({
  version,
  state,
  completedAt: completedHandoff && toIso(completedHandoff.at),
});

/** A hand-off completed with no write after it counts as a change for a caller who starts to wait. */
const isNews = ({ completedHandoff, token }: Submission): boolean =>
  completedHandoff !== undefined && completedHandoff.at >= token.issuedAt;

/**
 * Reads a submission once somebody has written to it, changed its state or completed a hand-off, after `waitMs` at the
 * latest. Returns at once if it has already changed or ended. Notifications may get lost, so it also polls every
 * second. Only the first and last look are recorded as reads.
 */
export async function awaitChange(context: Context, call: AwaitChangeCall): Promise<ChangeRead> {
  const { signal } = call;
  const { watchPollMs } = context.deps.settings;
  const until = performance.now() + call.waitMs;
  const { submission, token } = await runRead(context, call, { operation: "getSubmission", use: (found) => found });
  const known: Known = {
    ...knownOf(submission),
    version: call.sinceVersion ?? token?.row.version ?? submission.version,
    ...(isNews(submission) && { completedAt: undefined }),
  };
  const notifier = createNotifier(signal);
  const unsubscribe = context.deps.wakeups.subscribe(submission.submissionId, notifier.notify);
  // Something may have changed before the subscription.
  notifier.notify();
  try {
    for (let looks = 0; ; looks++) {
      await notifier.notified(Math.min(watchPollMs, Math.max(0, until - performance.now())));
      const now = await peek(context, call);
      const isOver = now === undefined || signal.aborted || performance.now() >= until;
      if (isOver || differs(knownOf(now), known)) {
        const read = await getSubmission(context, call);
        return {
          ...read,
          changed: differs({ ...read.body, completedAt: read.body.completedHandoff?.completedAt }, known),
        };
      }
      if (looks === 0) call.onWaiting?.();
    }
  } finally {
    unsubscribe();
  }
}
