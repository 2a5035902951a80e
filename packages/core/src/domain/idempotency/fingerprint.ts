import type { Actor } from "@formbridge/contract";
import { canonicalJson, type Hash, sha256 } from "../hashing.ts";

/** What a request means, however it is written: requests with the same fingerprint are the same request. */
export type Meaning =
  | { operation: "create"; actor: Pick<Actor, "kind" | "id">; initialFields: unknown; ttlMs: number | null }
  | { operation: "setFields"; submissionId: string; fields: unknown }
  | { operation: "submit"; submissionId: string; version: number };

export const fingerprint = (meaning: Meaning): Hash => sha256(canonicalJson(meaning));
