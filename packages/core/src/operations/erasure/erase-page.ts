import type { Actor, EraseActorReport } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import { mentions, type SoughtActor } from "../../domain/traces.ts";
import { StoreDown } from "../../ports/store.ts";
import type { Context } from "../context.ts";
import { everyIntake } from "../read/every-intake.ts";
import { eraseFromArchive } from "./erase-from-archive.ts";
import { eraseFromSubmission } from "./erase-from-submission.ts";

export interface Erasure {
  tenant: string;
  sought: SoughtActor;
  dryRun: boolean;
  /** Recorded as the one who erased. */
  by: Actor;
  /** The API key that requested it, which must be kept until the last page. */
  ownKey?: string;
}

export interface ErasurePage {
  report: EraseActorReport;
  /** Where the next page starts; absent after the last. */
  next?: string;
}

const newReport = (): EraseActorReport => ({
  scanned: 0,
  submissions: 0,
  cancelled: 0,
  redacted: 0,
  events: 0,
  files: 0,
  archives: 0,
  keys: 0,
  waiting: [],
  valuesKept: [],
  failed: [],
  configured: { keys: [], intakes: [] },
});

/** Positions: submissions by id, then archived documents. */
const ARCHIVE = "archive:";

/**
 * One bounded step through everything that a tenant stores. Keeps no state of its own: what an earlier run erased is no
 * longer found, so an erasure that died is completed by starting it again.
 */
export async function erasePage(
  context: Context,
  erasure: Erasure,
  { after = "", limit }: { after?: string | undefined; limit: number },
): Promise<ErasurePage> {
  const report = newReport();
  if (after === "") {
    // First, so that nothing new is written with the actor's API keys.
    await eraseKeys(context, erasure, report);
    await findConfigured(context, erasure, report);
    // Write pending read audits now; otherwise the actor's would be written after the erasure.
    await context.auditTrail.flush();
  }
  if (after.startsWith(ARCHIVE)) return await archivePage(context, erasure, { after, limit, report });
  const { tenant } = erasure;
  const rows = await context.deps.backend.submissions.list({ tenant }, { after, limit });
  for (const { submission } of rows) {
    report.scanned += 1;
    await eraseFromSubmission(context, erasure, { submissionId: submission.submissionId, report }).catch(
      (error: unknown) => {
        // One submission that can't be opened must not hold up the rest.
        if (error instanceof ContractError && error.type === "service_unavailable") throw error;
        if (error instanceof StoreDown) throw error;
        report.failed.push(submission.submissionId);
      },
    );
  }
  return { report, next: rows.length < limit ? ARCHIVE : (rows.at(-1)?.submission.submissionId ?? ARCHIVE) };
}

async function archivePage(
  { deps: { archive } }: Context,
  erasure: Erasure,
  { after, limit, report }: { after: string; limit: number; report: EraseActorReport },
): Promise<ErasurePage> {
  const places = (await archive?.list({ tenant: erasure.tenant, after: after.slice(ARCHIVE.length) }, limit)) ?? [];
  for (const place of places) {
    report.scanned += 1;
    if (archive !== undefined && (await eraseFromArchive(archive, erasure, place))) report.archives += 1;
  }
  const last = places.at(-1);
  return last === undefined || places.length < limit
    ? { report }
    : { report, next: `${ARCHIVE}${last.intakeId}/${last.submissionId}` };
}

const KEYS_PAGE = 1000;

async function eraseKeys({ deps }: Context, erasure: Erasure, report: EraseActorReport): Promise<void> {
  const { tenant, sought, dryRun, ownKey } = erasure;
  for (let after = ""; ; ) {
    const page = await deps.backend.keys.list({ tenant, after }, KEYS_PAGE);
    for (const { keyId, actor, actsFor } of page) {
      if (mentions(actor, sought) && keyId !== ownKey) {
        if (dryRun || (await deps.backend.keys.revoke({ tenant, keyId }))) report.keys += 1;
      } else if (mentions(actor, sought) || actsFor?.includes(sought.id)) report.configured.keys.push(keyId);
    }
    const last = page.at(-1)?.keyId;
    if (last === undefined || page.length < KEYS_PAGE) return;
    after = last;
  }
}

async function findConfigured(context: Context, { tenant, sought }: Erasure, report: EraseActorReport): Promise<void> {
  for await (const intake of everyIntake(context)) {
    if (intake.tenant !== tenant || !mentions(intake.definition.approvalGates, sought)) continue;
    report.configured.intakes.push(intake.definition.id);
  }
}
