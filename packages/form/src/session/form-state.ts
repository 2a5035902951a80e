import type { FormBridgeError, Submission } from "@formbridge/client";
import type { FieldError, SubmissionRecord } from "@formbridge/contract";
import type { FieldPath } from "../engine/changes.ts";
import type { Edit, Fields } from "./edits.ts";

/** Keeps what was typed and not confirmed, so that a crash of the tab loses nothing. Never given a token. */
export interface EditStorage {
  /**
   * Passes on what ended visits have left, now and when one ends later. `take` returns what it could not take; that
   * stays where it was. Resolves when everything that is there already was passed on.
   */
  takeOver(submissionId: string, take: (edits: Edit[]) => Edit[]): Promise<void>;
  /** Replaces what this visit has stored. */
  save(submissionId: string, edits: readonly Edit[]): void;
  close?(): void;
}

export interface FormSessionOptions {
  submission: Submission;
  storage?: EditStorage;
  /** These are never written to storage. */
  isSensitive?(path: FieldPath): boolean;
  /** Calls back later; returns a function that cancels it. Replaced by tests. */
  later?(ms: number, callback: () => void): () => void;
}

export type Saving = "saved" | "waiting" | "saving" | "offline";

/** What a page shows. A new object after every change. */
export interface FormState {
  record: SubmissionRecord;
  /** The values with everything that was typed here. */
  fields: Fields;
  /** `saved` only when the server has everything: not while a choice is open or a value was refused. */
  saving: Saving;
  conflicts: readonly Edit[];
  /** Values that the server can't store, and why. They are tried again when they are changed. */
  refused: readonly FieldError[];
  /** For pages behind a direct link, which keep the newest token in the address bar. */
  resumeToken?: string;
  /** Set when nothing can be written any more: the link was revoked, or the submission has ended. */
  ended?: FormBridgeError;
}
