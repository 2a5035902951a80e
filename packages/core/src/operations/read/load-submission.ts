import type { KeyRecord, KeyRef } from "../../domain/idempotency/key-record.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Loaded, LoadQuery, Snapshot } from "../../ports/store.ts";
import type { Context } from "../context.ts";
import type { Deps } from "../deps.ts";
import { openRow } from "./open-snapshot.ts";

/** A submission as the server itself sees it, for work that no caller requested. */
export interface LoadedSubmission {
  submission: Submission;
  snapshot: Snapshot;
  intake: CompiledIntake;
  now: Instant;
  record?: KeyRecord;
}

/** Loads what a query names, as a span. */
export const fetchSubmission = ({ backend, tracing }: Deps, query: LoadQuery): Promise<Loaded> =>
  tracing.span("fetchSubmission", async () => {
    const loaded = await backend.store.load(query);
    const { submissionId } = loaded.submission?.submission ?? {};
    if (submissionId !== undefined) tracing.describe({ "submission.id": submissionId });
    return loaded;
  });

export async function loadSubmission(
  { deps, catalog }: Context,
  { tenant, submissionId }: { tenant: string; submissionId: string },
  key?: KeyRef,
): Promise<LoadedSubmission | undefined> {
  const loaded = await fetchSubmission(deps, { by: { id: submissionId, tenant }, ...(key && { key }) });
  if (loaded.submission === undefined) return undefined;
  const submission = openRow(deps.sealer, loaded.submission);
  deps.tracing.join(submission.traceparent);
  const intake = await catalog.byDigest(submission.definition);
  return {
    submission,
    snapshot: loaded.submission,
    now: loaded.now,
    intake,
    ...(loaded.record && { record: loaded.record }),
  };
}
