import type { Actor } from "@formbridge/contract";
import { canonicalJson, type Hash, sha256 } from "../hashing.ts";

/** What a request means, whatever its spelling: two requests with one fingerprint are the same request. */
export type Meaning =
  | { operation: "create"; actor: Pick<Actor, "kind" | "id">; initialFields: unknown; ttlMs: number | null }
  | { operation: "setFields"; submissionId: string; fields: unknown }
  | { operation: "submit"; submissionId: string; version: number };

export const fingerprint = (meaning: Meaning): Hash => sha256(canonicalJson(meaning));
