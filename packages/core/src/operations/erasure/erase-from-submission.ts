import type { EraseActorReport } from "@formbridge/contract";
import { decideCancel } from "../../domain/decide/cancel.ts";
import { decideRedact } from "../../domain/decide/erase.ts";
import type { Submission } from "../../domain/submission.ts";
import { findTraces, isSought, mentions, type Traces } from "../../domain/traces.ts";
import { isTerminal } from "../../domain/transitions.ts";
import type { Context } from "../context.ts";
import { openNote } from "../links/handoff-links.ts";
import { type LoadedSubmission, loadSubmission } from "../read/load-submission.ts";
import { wholeHistory } from "../read/whole-history.ts";
import { commitDecision } from "../write/commit.ts";
import { decideContextOf } from "../write/decide-context.ts";
import { eraseSubmissionNow } from "../write/erase.ts";
import { expireIfDue } from "../write/expire-due.ts";
import type { Erasure } from "./erase-page.ts";

const MAX_TRIES = 8;

interface Visit {
  submissionId: string;
  /** Counts what is done here. */
  report: EraseActorReport;
}

/** `again`: somebody else committed first, so decide on the current state. */
type Outcome = "done" | "again";

/**
 * A submission that the actor created is erased, after it was cancelled if need be. From others the actor is removed
 * once they have ended: until then, the work of others depends on who did what.
 */
export async function eraseFromSubmission(context: Context, erasure: Erasure, visit: Visit): Promise<void> {
  const { tenant } = erasure;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await loadSubmission(context, { tenant, submissionId: visit.submissionId });
    if (found === undefined) return;
    if (!erasure.dryRun && (await expireIfDue(context.deps, found))) continue;
    const isOwn = isSought(found.submission.createdBy, erasure.sought);
    const step = isOwn ? eraseOwn : redact;
    if ((await step(context, erasure, { ...visit, found })) === "done") return;
  }
  throw new Error(`${visit.submissionId} changes too fast to be erased`);
}

type Step = Visit & { found: LoadedSubmission };

async function eraseOwn(context: Context, erasure: Erasure, { found, report }: Step): Promise<Outcome> {
  const { submission, intake, now } = found;
  const { tenant, submissionId, intakeId } = submission;
  const { deps } = context;
  const { by } = erasure;
  if (!isTerminal(submission.state)) {
    const decision = decideCancel(submission, {}, decideContextOf(deps, { now, actor: by, intake }));
    if (decision.refusal !== undefined) {
      report.waiting.push(submissionId);
      return "done";
    }
    if (!erasure.dryRun) {
      const change = { operation: "cancel", before: submission, decision, actor: by, now, intake };
      const { committed } = await commitDecision(deps, { ...change, ignoresDeadline: true });
      if (committed.kind === "committed") report.cancelled += 1;
      return "again";
    }
    report.cancelled += 1;
  }
  if (!erasure.dryRun) {
    await eraseSubmissionNow(context, { tenant, submissionId, actor: by, archives: false });
    await deps.archive?.drop({ tenant, intakeId, submissionId });
  }
  report.submissions += 1;
  return "done";
}

async function redact(context: Context, erasure: Erasure, { found, report }: Step): Promise<Outcome> {
  const { deps } = context;
  const { submission, intake, now } = found;
  const { tenant, submissionId } = submission;
  const traces = findTraces(await wholeHistory(deps, submission), erasure.sought);
  if (!(await isInvolved(context, submission, traces))) return "done";
  if (!isTerminal(submission.state)) {
    report.waiting.push(submissionId);
    return "done";
  }
  if (!erasure.dryRun) {
    // Before the commit, because after it nobody knows which files were theirs.
    for (const uploadId of traces.uploads) await deps.uploads?.drop({ tenant, submissionId, uploadId });
    const decision = decideRedact(traces);
    const change = { operation: "erase", before: submission, decision, actor: erasure.by, now, intake };
    if ((await commitDecision(deps, change)).committed.kind !== "committed") return "again";
  }
  report.redacted += 1;
  report.events += traces.events.length;
  report.files += traces.uploads.length;
  if (traces.setFields) report.valuesKept.push(submissionId);
  return "done";
}

async function isInvolved({ deps }: Context, submission: Submission, { sought, events }: Traces): Promise<boolean> {
  if (events.length > 0 || mentions(submission, sought)) return true;
  const handoffs = await deps.backend.handoffs.ofSubmission(submission.submissionId);
  return handoffs.some((handoff) => mentions(handoff, sought) || openNote(deps.sealer, handoff).email === sought.id);
}
