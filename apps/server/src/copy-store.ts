import {
  COPY_KINDS,
  type CopiedRows,
  type CopyKind,
  type CopySource,
  type CopyTarget,
  opensAnswer,
  opensSnapshot,
  opensWebhook,
  type Sealer,
} from "@formbridge/core";

export interface Copying {
  sealer: Sealer;
  /** Hears how far it is. */
  progress(line: string): void;
  /** Looks at the whole copy before it is declared finished; throws when something is wrong with it. */
  verify(tenants: ReadonlySet<string>): Promise<void>;
}

/**
 * Copies everything from one store to another, kind by kind, page by page.
 *
 *   secrets open everything ──▶ target is empty, or has a part of this ──▶ the rest is written ──▶ counts ──▶ chains ──▶ finished
 *
 * Interrupted at any moment it can be run again: a page is written whole or not at all, and the source can't have changed.
 * Answers false when the copy was made before.
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
  throw new Error(`The copy is not whole. ${lines.join(", ")}`);
}

/** What is sealed stays sealed, so the target must be served with the same secret. Answers whose data there is. */
function checkSecrets(source: CopySource, sealer: Sealer): Set<string> {
  const tenants = new Set<string>();
  for (const page of source.pages("submissions", 0)) {
    for (const row of page) {
      tenants.add(row.tenant);
      if (!opensSnapshot(sealer, snapshotOf(row))) throw wrongSecret(`submission ${row.submission_id}`);
    }
  }
  for (const page of source.pages("records", 0)) {
    for (const { tenant, submission_id: submissionId, answer } of page) {
      if (!opensAnswer(sealer, { tenant, submissionId, answer }))
        throw wrongSecret(`a recorded answer of ${submissionId}`);
    }
  }
  for (const page of source.pages("webhooks", 0)) {
    for (const { webhook_id: webhookId, doc } of page) {
      if (!opensWebhook(sealer, JSON.parse(doc))) throw wrongSecret(`the secret of ${webhookId}`);
    }
  }
  return tenants;
}

const snapshotOf = ({ doc, sealed_token, sealed_fields }: CopiedRows["submissions"]) => ({
  submission: JSON.parse(doc),
  sealedToken: sealed_token,
  ...(sealed_fields !== null && { sealedFields: sealed_fields }),
});

const wrongSecret = (what: string): Error =>
  new Error(
    `FORMBRIDGE_SECRET does not open ${what}. Set it to the secret that the file was served with: ` +
      "its FORMBRIDGE_SECRET, or the content of the file `secret` in its data folder.",
  );
