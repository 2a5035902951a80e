import { opensAnswer, opensDefinition, opensSnapshot, opensWebhook, type Sealer } from "@formbridge/core";
import {
  COPY_KINDS,
  type CopyKind,
  type CopySource,
  type CopyTarget,
  fromJson,
  snapshotOf,
} from "@formbridge/store-sql";
import { opensAll } from "./check-secret.ts";

export interface Copying {
  sealer: Sealer;
  /** Reports progress. */
  progress(line: string): void;
  /** Verifies the whole copy before it is marked as finished; throws if something is wrong. */
  verify(tenants: ReadonlySet<string>): Promise<void>;
}

/**
 * Copies everything from one store to another, kind by kind, page by page.
 *
 *   secrets open everything ──▶ target is empty, or has a part of this ──▶ the rest is written ──▶ counts ──▶ chains
 * ──▶ finished
 *
 * It can be interrupted at any time and run again: a page is written completely or not at all, and the source can't
 * change. Returns false if the copy was already finished.
 */
export async function copyStore(source: CopySource, target: CopyTarget, copying: Copying): Promise<boolean> {
  const tenants = checkSecrets(source, copying.sealer);
  if ((await target.begin(source.fingerprint)) === "finished") return false;
  const there = await target.counts();
  for (const kind of COPY_KINDS) await copyKind({ source, target, kind, from: there[kind] }, copying);
  await checkCounts(source, target);
  copying.progress("verifying histories");
  await copying.verify(tenants);
  await target.finish(source.lastPosition);
  return true;
}

async function copyKind(
  { source, target, kind, from }: { source: CopySource; target: CopyTarget; kind: CopyKind; from: number },
  { progress }: Copying,
): Promise<void> {
  const total = source.counts[kind];
  let done = from;
  if (from > 0) progress(`${kind}: going on after ${from}`);
  for (const rows of source.pages(kind, from)) {
    await target.write(kind, rows);
    done += rows.length;
    progress(`${kind}: ${done} of ${total}`);
  }
}

async function checkCounts(source: CopySource, target: CopyTarget): Promise<void> {
  const counts = await target.counts();
  const wrong = COPY_KINDS.filter((kind) => counts[kind] !== source.counts[kind]);
  if (wrong.length === 0) return;
  const lines = wrong.map((kind) => `${kind}: ${counts[kind]} of ${source.counts[kind]}`);
  throw new Error(`The copy is incomplete. ${lines.join(", ")}`);
}

/** Sealed data is copied as is, so the target needs the same secret. Returns the tenants that have data. */
function checkSecrets(source: CopySource, sealer: Sealer): Set<string> {
  const tenants = new Set<string>();
  for (const page of source.pages("secret_checks", 0)) {
    for (const { checks } of page) if (!opensAll(fromJson(checks), sealer)) throw wrongSecret("all of the file");
  }
  for (const page of source.pages("definitions", 0)) {
    for (const { digest, definition } of page) {
      if (!opensDefinition(sealer, fromJson(definition), digest))
        throw wrongSecret("the secrets of an intake's receivers");
    }
  }
  for (const page of source.pages("submissions", 0)) {
    for (const row of page) {
      tenants.add(row.tenant);
      if (!opensSnapshot(sealer, snapshotOf(row))) throw wrongSecret(`submission ${row.submission_id}`);
    }
  }
  for (const page of source.pages("records", 0)) {
    for (const { tenant, submission_id: submissionId, answer } of page) {
      if (!opensAnswer(sealer, { tenant, submissionId, answer }))
        throw wrongSecret(`a recorded response of ${submissionId}`);
    }
  }
  for (const page of source.pages("webhooks", 0)) {
    for (const { webhook_id: webhookId, doc } of page) {
      if (!opensWebhook(sealer, fromJson(doc))) throw wrongSecret(`the secret of ${webhookId}`);
    }
  }
  return tenants;
}

const wrongSecret = (what: string): Error =>
  new Error(
    `FORMBRIDGE_SECRET can't open ${what}. Set it to the secret that the file was used with: ` +
      "its FORMBRIDGE_SECRET, or the content of the file `secret` in its data folder.",
  );
