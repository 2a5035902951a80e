import type { Hash } from "../hashing.ts";
import type { Submission } from "../submission.ts";
import type { KeyRecord } from "./key-record.ts";

/** The repeated request and its caller. */
export interface Retry {
  fingerprint: Hash;
  principal: string;
  /** For writes: the version of the retry's token. */
  carriedVersion: number;
  submissionId?: string;
  currentVersion?: number;
  /** See `writtenVersion`. */
  writtenVersion?: number;
}

export type RecordMatch =
  /** The same request by the same caller: return the recorded response. */
  | "replay"
  /** A failed submit was corrected: try again and replace the record. */
  | "try_again"
  /** Another request by the same caller: say which submission has the key. */
  | "conflict"
  /** Someone else's key: reveal nothing. */
  | "foreign";

/** The version that last changed what a submit sends, or reopened the submission. */
export function writtenVersion({ attribution, rejections }: Pick<Submission, "attribution" | "rejections">): number {
  const versions = [...Object.values(attribution.paths), ...Object.values(attribution.removed)];
  for (const { version } of rejections) versions.push(version);
  return versions.reduce((latest, version) => Math.max(latest, version), 0);
}

/** What a live record means for a request with its idempotency key. */
export function matchRecord(record: KeyRecord, retry: Retry): RecordMatch {
  if (!isEntitled(record, retry)) return "foreign";
  if (record.fingerprint === retry.fingerprint || isSameSubmit(record, retry)) return "replay";
  const mended =
    record.failed && record.submissionId === retry.submissionId && retry.carriedVersion > record.carriedVersion;
  return mended ? "try_again" : "conflict";
}

/**
 * An agent whose response got lost reads the new token and retries: that is the same submit, as long as nothing was
 * written since. Earlier writes have versions up to the one it was based on. A failed submit keeps its token current,
 * so a newer token means that somebody wrote.
 */
function isSameSubmit(record: KeyRecord, retry: Retry): boolean {
  const { currentVersion, writtenVersion: written } = retry;
  if (record.ref.operation !== "submit" || record.failed || record.submissionId !== retry.submissionId) return false;
  if (currentVersion === undefined || written === undefined) return false;
  return retry.carriedVersion === currentVersion && written <= record.carriedVersion;
}

/** The caller who made the record, or one with the original request's token or the current one. */
function isEntitled(record: KeyRecord, retry: Retry): boolean {
  // A session presents no token, and someone else's response may contain one, so it only gets its own responses again.
  if (retry.principal.startsWith("handoff:")) return record.principal === retry.principal;
  if (record.principal === retry.principal) {
    // Holding an older token of the submission doesn't prove having made the record.
    if (!record.principal.startsWith("submission:")) return true;
  }
  if (record.ref.operation === "create" || record.submissionId !== retry.submissionId) return false;
  return retry.carriedVersion === record.carriedVersion || retry.carriedVersion === retry.currentVersion;
}
