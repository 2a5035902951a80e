import { patchOf, rebase } from "./changes.ts";
import { type Host, Refused } from "./host.ts";
import {
  type Actor,
  clone,
  type FieldHint,
  type FieldProblem,
  type FormRecord,
  isObject,
  type JsonObject,
  type Step,
} from "./wire.ts";

/** A form that is open: what the server has, and what was typed since. */
export interface FormState {
  host: Host;
  /** The secret of the hand-off session that all calls are made in. */
  session: string;
  actor: Actor;
  message: string;
  title: string;
  description: string;
  hints: Record<string, FieldHint>;
  steps: Step[];
  record: FormRecord;
  draft: JsonObject;
  /** Before anybody tried to send the form, what is missing is no error. */
  tried: boolean;
  /** What went wrong at one field, until something else is done. */
  mishap?: FieldProblem | undefined;
  submitKey?: { version: number; key: string };
}

const EDITABLE = new Set(["draft", "in_progress", "awaiting_input", "awaiting_upload", "rejected"]);
export const isEditable = ({ record }: FormState): boolean => EDITABLE.has(record.state);

export function recordFrom(value: unknown): FormRecord {
  const given = isObject(value) ? value : {};
  return {
    fields: {},
    schema: {},
    attribution: {},
    missingFields: [],
    validationErrors: [],
    ...given,
  } as unknown as FormRecord;
}

const call = (state: FormState, args: JsonObject): Promise<JsonObject> =>
  state.host.call({ submissionId: state.record.submissionId, session: state.session, ...args });

/** Takes over what the server has now; what was typed and not saved stays on top. */
function take(state: FormState, answer: JsonObject): void {
  if (!isObject(answer.record)) return;
  const record = recordFrom(answer.record);
  state.draft = rebase(state.record.fields, state.draft, clone(record.fields));
  state.record = record;
}

export const isChanged = (state: FormState): boolean =>
  Object.keys(patchOf(state.record.fields, state.draft)).length > 0;

/** Sends what changed. False: somebody else wrote first, and both are to be looked at together. */
export async function save(state: FormState): Promise<boolean> {
  const fields = patchOf(state.record.fields, state.draft);
  if (Object.keys(fields).length === 0) return true;
  try {
    take(state, await call(state, { action: "save", version: state.record.version, fields }));
    return true;
  } catch (error) {
    if (!(error instanceof Refused) || error.failure.type !== "token_conflict") throw error;
    take(state, await call(state, { action: "read" }));
    return false;
  }
}

/** The state that the submission came to, or the problems that keep it. */
export async function submit(state: FormState): Promise<{ sent: string } | { problems: FieldProblem[] }> {
  const { version } = state.record;
  // A second press on the same version is a retry: the same key, so that it is sent once.
  if (state.submitKey?.version !== version) state.submitKey = { version, key: newKey() };
  try {
    const answer = await call(state, { action: "submit", version, idempotencyKey: state.submitKey.key });
    return { sent: String(answer.state) };
  } catch (error) {
    const problems = error instanceof Refused ? error.failure.fields : undefined;
    if (problems === undefined) throw error;
    take(state, await call(state, { action: "read" }));
    return { problems };
  }
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `form-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Announces the file, sends its bytes straight to where the server says, and confirms it. */
export async function upload(state: FormState, field: string, file: File): Promise<void> {
  const announced = await call(state, {
    action: "upload",
    version: state.record.version,
    field,
    filename: file.name,
    mimeType: file.type === "" ? "application/octet-stream" : file.type,
    sizeBytes: file.size,
  });
  take(state, announced);
  const target = isObject(announced.upload) ? announced.upload : {};
  await send(target, file);
  const { version } = state.record;
  take(state, await call(state, { action: "confirm", version, uploadId: String(target.uploadId) }));
}

async function send(target: JsonObject, file: File): Promise<void> {
  const { method, url, headers } = target;
  const given = isObject(headers) ? Object.entries(headers) : [];
  // The browser sets the length itself, and lets nobody else.
  const allowed = given
    .filter(([name]) => name.toLowerCase() !== "content-length")
    .map(([name, value]) => [name, String(value)]);
  let sent: Response;
  try {
    sent = await fetch(String(url), { method: String(method), headers: Object.fromEntries(allowed), body: file });
  } catch {
    throw new Error("The file could not be sent from here. Open the form in a browser to add it.");
  }
  if (!sent.ok) throw new Error("The file was not taken. Check its type and size.");
}
