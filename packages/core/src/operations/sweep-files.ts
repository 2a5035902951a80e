import type { Context } from "./context.ts";

export interface FilesSwept {
  dropped: number;
  /** Where the next page starts; absent after the last. */
  next?: string;
}

/** One page of the storage: removes files that no row refers to. Those in a row have a job. */
export async function sweepFiles({ deps }: Context, after?: string): Promise<FilesSwept> {
  const { uploads: storage, backend, settings, instrumentation } = deps;
  if (storage === undefined) return { dropped: 0 };
  const { uploadTtlMs, uploadGraceMs } = settings.policy;
  const page = { idleMs: uploadTtlMs + uploadGraceMs, ...(after !== undefined && { after }) };
  const { names, next } = await storage.list(page);
  let dropped = 0;
  for (const name of names) {
    const { tenant, submissionId: id, uploadId } = name;
    const { submission: snapshot } = await backend.store.load({ by: { id, tenant } });
    if (snapshot?.submission.uploads.some((upload) => upload.uploadId === uploadId) === true) continue;
    await storage.drop(name);
    dropped++;
  }
  if (dropped > 0) instrumentation.record({ name: "swept", what: "uploads", count: dropped });
  return { dropped, ...(next !== undefined && { next }) };
}
