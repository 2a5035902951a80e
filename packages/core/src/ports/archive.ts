import type { JsonObject } from "@formbridge/contract";

/** Where a submission's document lies. */
export interface ArchivePlace {
  tenant: string;
  intakeId: string;
  submissionId: string;
}

/** Where submissions go before they are erased, when their intake asks for it. */
export interface Archive {
  /** Resolves when the document is safe, in place of an earlier one; throws, and leaves an earlier one, when it is not. */
  put(place: ArchivePlace, document: JsonObject): Promise<void>;
  /** Removes the document; that there is none is fine. */
  drop(place: ArchivePlace): Promise<void>;
}
