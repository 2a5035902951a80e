import type { Actor, JsonObject } from "@formbridge/contract";
import { EVENT_STREAMS } from "@formbridge/contract";
import { decideErase } from "../../domain/decide/erase.ts";
import { toIso } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import { eventView } from "../get-events.ts";
import { commitDecision } from "./commit.ts";
import type { Context } from "./context.ts";
import { loadOpened, type Opened } from "./load-opened.ts";
import { recordOf } from "./record.ts";

const MAX_TRIES = 8;
const PAGE = 1000;

interface Erasing {
  tenant: string;
  submissionId: string;
  actor: Actor;
  /** Is the submission to be kept elsewhere before? */
  archives: boolean;
}

/**
 * Takes an ended submission's files, then, in one commit, everything that tells of anybody. A commit that loses a race starts
 * over, with the archive too: what is kept there is what was erased. Answers the submission as it is then; undefined when there
 * is none.
 */
export async function eraseSubmissionNow(context: Context, erasing: Erasing): Promise<Submission | undefined> {
  const { deps } = context;
  let archived = false;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await loadOpened(context, erasing);
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
    // Before the commit: after it nobody would know which files there were.
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

/** Somebody asked for the erasure while the document was on its way: then it is not to be kept. */
async function dropUnwanted({ deps }: Context, { tenant, submissionId, intakeId }: Submission): Promise<void> {
  const where = { tenant, submissionId, streams: ["submission"], types: ["submission.erased"] } as const;
  const [erasure] = (await deps.backend.events.read(where, 1)) ?? [];
  if (erasure?.actor?.kind !== "system") await deps.archive?.drop({ tenant, intakeId, submissionId });
}

/** False: it was erased meanwhile; its history tells nothing any more, or its document was taken away half-written. */
async function archive(context: Context, { submission, now, intake }: Opened): Promise<boolean> {
  const { archive: place, settings } = context.deps;
  const { submissionId, tenant, intakeId } = submission;
  if (place === undefined) throw new Error(`${submissionId} is to be archived, and this server has no archive`);
  const events = await wholeHistory(context, submission);
  if (events.some(({ type }) => type === "submission.erased")) return false;
  const { ok: _, ...record } = recordOf({ submission, intake, now, policy: settings.policy }, "all");
  const document = {
    format: "formbridge.submission.1",
    archivedAt: toIso(now),
    tenant,
    submission: record,
    files: submission.uploads.flatMap(({ confirmed }) => (confirmed === undefined ? [] : [confirmed])),
    events,
  };
  try {
    await place.put({ tenant, intakeId, submissionId }, document as unknown as JsonObject);
    return true;
  } catch (cause) {
    if ((await loadOpened(context, submission))?.submission.erasedAt !== undefined) return false;
    throw new Error(`${submissionId} could not be archived, and is left as it is`, { cause });
  }
}

/** All streams, with proofs: what was handed out can be compared with it. */
async function wholeHistory({ deps }: Context, { tenant, submissionId }: Submission) {
  const events: ReturnType<typeof eventView>[] = [];
  for (;;) {
    const after = events.at(-1)?.eventId;
    const where = { tenant, submissionId, streams: EVENT_STREAMS, ...(after !== undefined && { afterEventId: after }) };
    const page = (await deps.backend.events.read(where, PAGE)) ?? [];
    if (page.length === 0) return events;
    events.push(...page.map((event) => eventView(event, { proof: true })));
  }
}
