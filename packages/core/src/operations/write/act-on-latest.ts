import type { Actor } from "@formbridge/contract";
import type { Decision } from "../../domain/decide/decision.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "../context.ts";
import { type LoadedSubmission, loadSubmission } from "../read/load-submission.ts";
import { type CommitInput, commitDecision } from "./commit.ts";

/** Reads and replays raise the revision too, and losing to them means deciding again. */
const MAX_TRIES = 64;

/** What to commit, and what goes with it. */
export interface Act extends Pick<CommitInput, "keyWrite" | "notAfter" | "ignoresDeadline"> {
  decision: Decision;
}

export interface OwnWork {
  operation: string;
  actor: Actor;
  /** Undefined if there is nothing (left) to do. */
  decide(found: LoadedSubmission): Act | undefined | Promise<Act | undefined>;
}

/**
 * For what the server does by itself: decides on the current state and commits, and starts over if another write came
 * first. Undefined if there was nothing to do, or no such submission.
 */
export async function actOnLatest(
  context: Context,
  where: { tenant: string; submissionId: string },
  { operation, actor, decide }: OwnWork,
): Promise<{ found: LoadedSubmission; after: Submission } | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await loadSubmission(context, where);
    const act = found && (await decide(found));
    if (found === undefined || act === undefined) return undefined;
    const { submission: before, now, intake } = found;
    const { committed, after } = await commitDecision(context.deps, { operation, actor, before, now, intake, ...act });
    if (committed.kind === "committed") return { found, after };
  }
  throw new Error(`${operation}: ${where.submissionId} lost ${MAX_TRIES} races`);
}
