import { isTerminal } from "../domain/transitions.ts";
import { type GetSubmissionCall, getSubmission, type SubmissionRead } from "./get-submission.ts";
import { createBell } from "./support/bell.ts";
import type { Context } from "./support/context.ts";
import { runRead } from "./support/run-read.ts";

export interface AwaitChangeCall extends GetSubmissionCall {
  /** The version that the caller knows. Without it: that of its token, or the one that is there now. */
  sinceVersion?: number;
  waitMs: number;
  /** Aborted when the caller has left. */
  signal: AbortSignal;
  /** Called when nothing has changed yet, and the wait begins. */
  onWaiting?: () => void;
}

export interface ChangeRead extends SubmissionRead {
  /** False: it is as the caller knows it. */
  changed: boolean;
}

/**
 * Reads a submission once somebody has written to it, or moved it to another state; at the latest after `waitMs`. What has
 * changed already, or has ended, is answered at once. Wake-ups are hints: each look is a read like any other, with its checks.
 */
export async function awaitChange(context: Context, call: AwaitChangeCall): Promise<ChangeRead> {
  const { signal } = call;
  const until = performance.now() + call.waitMs;
  const { submission, token } = await runRead(context, call, "getSubmission");
  const known = { version: call.sinceVersion ?? token?.row.version ?? submission.version, state: submission.state };
  const bell = createBell(signal);
  const unsubscribe = context.deps.wakeups.subscribe(submission.submissionId, bell.ring);
  try {
    for (let looks = 0; ; looks++) {
      await bell.rung(Math.max(0, until - performance.now()));
      const read = await getSubmission(context, call);
      const { version, state } = read.body;
      const changed = version !== known.version || state !== known.state || isTerminal(state);
      if (changed || signal.aborted || performance.now() >= until) return { ...read, changed };
      if (looks === 0) call.onWaiting?.();
    }
  } finally {
    unsubscribe();
  }
}
