import type { Actor } from "@formbridge/contract";
import type { Decision } from "../../domain/decide/decision.ts";
import type { Submission } from "../../domain/submission.ts";
import { type CommitInput, commitDecision } from "./commit.ts";
import type { Context } from "./context.ts";
import { loadOpened, type Opened } from "./load-opened.ts";

/** Reads and replays move the revision too: who loses to them decides again. */
const MAX_TRIES = 64;

/** What is to be committed, and what goes with it. */
export interface Act extends Pick<CommitInput, "keyWrite" | "notAfter" | "ignoresDeadline"> {
  decision: Decision;
}

export interface OwnWork {
  operation: string;
  actor: Actor;
  /** Undefined: there is nothing to do (any more). */
  decide(found: Opened): Act | undefined | Promise<Act | undefined>;
}

/**
 * What the server does to a submission by itself: decides on what is there and commits it, again on what is there then when
 * another write came first. Undefined when there was nothing to do, or no such submission.
 */
export async function actOnLatest(
  context: Context,
  where: { tenant: string; submissionId: string },
  { operation, actor, decide }: OwnWork,
): Promise<{ found: Opened; after: Submission } | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await loadOpened(context, where);
    const act = found && (await decide(found));
    if (found === undefined || act === undefined) return undefined;
    const { submission: before, now, intake } = found;
    const { committed, after } = await commitDecision(context.deps, { operation, actor, before, now, intake, ...act });
    if (committed.kind === "committed") return { found, after };
  }
  throw new Error(`${operation}: ${where.submissionId} found no quiet moment`);
}
