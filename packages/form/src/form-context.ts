import { createContext, type ReactNode, useContext } from "react";
import type { Typing } from "./engine/changes.ts";
import type { ErrorsByPath } from "./engine/errors.ts";
import type { Hints } from "./engine/hints.ts";
import type { JsonSchema } from "./engine/prepare-schema.ts";
import { inEnglish, type Translate } from "./texts.ts";

/** A file being uploaded to a field, as the form shows it. */
export interface FileProgress {
  id: string;
  filename: string;
  sizeBytes: number;
  sentBytes: number;
  state: "sending" | "paused" | "checking" | "failed";
  /** Why the server refused the file. Absent when the connection broke. */
  reason?: string;
}

/** What the form needs to send files. */
export interface FormFiles {
  inFlight(path: string): readonly FileProgress[];
  send(path: string, file: File): void;
  pause(id: string): void;
  resume(id: string): void;
  cancel(id: string): void;
  /** A signed URL of an uploaded file, if this person may see it. It expires; call again for a new one. */
  urlOf?(uploadId: string): Promise<string | undefined>;
}

/** A field's path from the root, with numbers for list items, and the id of its control. */
export interface Place {
  path: readonly (string | number)[];
  id: string;
}

/** What every field of the theme can reach. Stays the same while the form is shown. */
export interface FormContext {
  t: Translate;
  /** A schema with its references, conditions and dependencies resolved for a value. */
  resolve(schema: JsonSchema, value: unknown): JsonSchema;
  fits(schema: JsonSchema, value: unknown): boolean;
  hints: Hints;
  /** The fields of the step that is shown. */
  step: readonly string[] | undefined;
  readOnly: boolean;
  /** Callbacks that report typed text which was held back until a pause; call each before sending. */
  pending: Set<() => void>;
  onTyping(began: Typing): void;
}

const NO_FORM: FormContext = {
  t: inEnglish,
  resolve: (schema) => schema,
  fits: () => true,
  hints: {},
  step: undefined,
  readOnly: true,
  pending: new Set(),
  onTyping: () => {},
};

/** Separate contexts, because they change at different times: a new error must not redraw every control. */
export const FormContexts = {
  Form: createContext<FormContext>(NO_FORM),
  /** The path of the control. */
  Path: createContext<Place["path"]>([]),
  Errors: createContext<ErrorsByPath>(new Map()),
  Files: createContext<FormFiles | undefined>(undefined),
  /** Shown below a field: who filled it in, or a choice between two values. */
  Note: createContext<((path: string) => ReactNode) | undefined>(undefined),
};

export const useFormContext = (): FormContext => useContext(FormContexts.Form);
