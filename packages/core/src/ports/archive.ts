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
  /** Undefined if there is none. */
  read(place: ArchivePlace): Promise<JsonObject | undefined>;
  /** Documents of a tenant by intake and submission, after `after` (`<intakeId>/<submissionId>`, or empty). */
  list(where: { tenant: string; after: string }, limit: number): Promise<ArchivePlace[]>;
  /** Removes the document, if there is one. */
  drop(place: ArchivePlace): Promise<void>;
}
