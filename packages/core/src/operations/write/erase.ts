import type { Actor, JsonObject } from "@formbridge/contract";
import { decideErase } from "../../domain/decide/erase.ts";
import { toIso } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "../context.ts";
import { eventView } from "../get-events.ts";
import { type LoadedSubmission, loadSubmission } from "../read/load-submission.ts";
import { recordOf } from "../read/record.ts";
import { wholeHistory } from "../read/whole-history.ts";
import { commitDecision } from "./commit.ts";

const MAX_TRIES = 8;

interface Erasing {
  tenant: string;
  submissionId: string;
  actor: Actor;
  /** Whether the submission is archived first. */
  archives: boolean;
}

/**
 * Removes an ended submission's files, then, in one commit, all personal data. A commit that loses a race starts over,
 * including the archive, so that the archive holds what was erased. Returns the resulting submission; undefined if
 * there is none.
 */
export async function eraseSubmissionNow(context: Context, erasing: Erasing): Promise<Submission | undefined> {
  const { deps } = context;
  let archived = false;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await loadSubmission(context, erasing);
    if (found === undefined) return undefined;
    const { submission, now, intake } = found;
    if (submission.erasedAt !== undefined) {
      if (archived) await dropUnwanted(context, submission);
      return submission;
    }
    const decision = decideErase(submission);
    if (decision.refusal !== undefined) throw decision.refusal;
    if (erasing.archives) {
      archived = true;
      if (!(await archive(context, found))) continue;
    }
    // Before the commit, because after it nobody knows which files there were.
    const { tenant, submissionId } = submission;
    for (const { uploadId } of submission.uploads) await deps.uploads?.drop({ tenant, submissionId, uploadId });
    const { actor } = erasing;
    const outcome = await commitDecision(deps, {
      operation: "erase",
      before: submission,
      decision,
      actor,
      now,
      intake,
    });
    if (outcome.committed.kind === "committed") return outcome.after;
  }
  throw new Error(`${erasing.submissionId} changes too fast to be erased`);
}

/** If erasure was requested while the document was being archived, it must not be kept. */
async function dropUnwanted({ deps }: Context, { tenant, submissionId, intakeId }: Submission): Promise<void> {
  const where = { tenant, submissionId, streams: ["submission"], types: ["submission.erased"] } as const;
  const [erasure] = (await deps.backend.events.read(where, 1)) ?? [];
  if (erasure?.actor?.kind !== "system") await deps.archive?.drop({ tenant, intakeId, submissionId });
}

/** False if it was erased meanwhile: its history is gone, or its document was removed half-written. */
async function archive(context: Context, { submission, now, intake }: LoadedSubmission): Promise<boolean> {
  const { deps } = context;
  const { archive: place, settings } = deps;
  const { submissionId, tenant, intakeId } = submission;
  if (place === undefined)
    throw new Error(`${submissionId} must be archived before it is erased, but this server has no archive`);
  const events = await wholeHistory(deps, submission);
  if (events.some(({ type }) => type === "submission.erased")) return false;
  const { ok: _, ...record } = recordOf({ submission, intake, now, policy: settings.policy }, "all");
  const document = {
    format: "formbridge.submission.1",
    archivedAt: toIso(now),
    tenant,
    submission: record,
    files: submission.uploads.flatMap(({ confirmed }) => (confirmed === undefined ? [] : [confirmed])),
    // With proofs, so that what was handed out can be compared with it.
    events: events.map((event) => eventView(event, { proof: true, callers: true })),
  };
  try {
    await place.put({ tenant, intakeId, submissionId }, document as unknown as JsonObject);
    return true;
  } catch (cause) {
    if ((await loadSubmission(context, submission))?.submission.erasedAt !== undefined) return false;
    throw new Error(`${submissionId} could not be archived, and is left as it is`, { cause });
  }
}
