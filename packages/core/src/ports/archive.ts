import type { JsonObject } from "@formbridge/contract";

/** Identifies the archived document of a submission. */
export interface ArchivePlace {
  tenant: string;
  intakeId: string;
  submissionId: string;
}

/** Stores submissions before they are erased, if their intake requires it. */
export interface Archive {
  /** Resolves once the document is durable, replacing an earlier one. On failure it throws, and the earlier one stays. */
  put(place: ArchivePlace, document: JsonObject): Promise<void>;
  /** Removes the document, if there is one. */
  drop(place: ArchivePlace): Promise<void>;
}
