import type { KeyRecord } from "../../ports/store.ts";
import type { Hash } from "../hashing.ts";

/** Who asks again, and for what. */
export interface Retry {
  fingerprint: Hash;
  principal: string;
  /** For writes on a submission: the version that the retry's token stands for. */
  carriedVersion: number;
  submissionId?: string;
  currentVersion?: number;
}

export type Weighed =
  /** The same request by the same caller: give the recorded answer. */
  | "replay"
  /** A failed submit was mended: try anew, in the record's place. */
  | "try_again"
  /** Another request by the same caller: say which submission holds the key. */
  | "conflict"
  /** Somebody else's key: say nothing. */
  | "foreign";

/** What a live record means for the request that comes with its key. */
export function weighRecord(record: KeyRecord, retry: Retry): Weighed {
  if (!isEntitled(record, retry)) return "foreign";
  if (record.fingerprint === retry.fingerprint) return "replay";
  const mended =
    record.failed && record.submissionId === retry.submissionId && retry.carriedVersion > record.carriedVersion;
  return mended ? "try_again" : "conflict";
}

/** The one who made the record, or whoever presents the token that the original carried, or the current one. */
function isEntitled(record: KeyRecord, retry: Retry): boolean {
  // A session presents no token, and an answer to somebody else may hold one: it gets its own answers again, no others.
  if (retry.principal.startsWith("handoff:")) return record.principal === retry.principal;
  if (record.principal === retry.principal) {
    // The bearer of some older token of the submission is not the one who made the record.
    if (!record.principal.startsWith("submission:")) return true;
  }
  if (record.ref.operation === "create" || record.submissionId !== retry.submissionId) return false;
  return retry.carriedVersion === record.carriedVersion || retry.carriedVersion === retry.currentVersion;
}
