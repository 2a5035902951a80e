import { type FieldConflict, FormBridgeError, type Resolution } from "@formbridge/client";
import { isEqual } from "../engine/changes.ts";
import { holdsMask } from "../engine/masks.ts";
import { type Edit, type Edits, type Fields, valueAt } from "./edits.ts";

/**
 * `later`: nothing is wrong with what was sent, it goes through when it is sent again. `content`: the server can't store
 * what was sent, whoever sends it. `over`: this link writes nothing any more.
 */
export type Meaning = "later" | "content" | "over";

const CONTENT = new Set<FormBridgeError["type"]>(["invalid", "missing", "bad_request", "payload_too_large"]);

export function meaningOf(error: FormBridgeError, { hasToken }: { hasToken: boolean }): Meaning {
  const { type, status, retryable, detail, body } = error;
  // After somebody else's write the response has the current token, unless the intake doesn't disclose it.
  if (type === "token_conflict") return hasToken && body?.resumeToken === undefined ? "over" : "later";
  if (CONTENT.has(type) || (type === "forbidden" && detail?.fields !== undefined)) return "content";
  // In a session whose submission was not read yet; the next read brings the version.
  if (type === "token_required") return "later";
  const isTemporary = status === undefined || status === 429 || status >= 500;
  return isTemporary && retryable ? "later" : "over";
}

/** An unknown failure counts as temporary, so that no edit is dropped because of it. */
export const asKnown = (reason: unknown): FormBridgeError =>
  reason instanceof FormBridgeError
    ? reason
    : new FormBridgeError("bad_answer", "The server's response could not be used.", { retryable: true, cause: reason });

/**
 * The server can't store some of these edits: they are held back, and everything else is sent without them. Returns true
 * when it did not say which: then send them one by one.
 */
export function holdRefused(error: FormBridgeError, sent: readonly Edit[], edits: Edits): boolean {
  edits.unsend(sent, "last");
  const named = error.detail?.fields ?? [];
  const refused = sent.flatMap((edit) => {
    const found = named.find(({ path }) => overlaps(path, edit.path.join(".")));
    return found === undefined ? [] : [{ edit, found }];
  });
  for (const { edit, found } of refused) edits.refuse(edit, found);
  const [only, ...others] = sent;
  if (refused.length > 0 || only === undefined) return false;
  if (others.length > 0) return true;
  edits.refuse(only, { path: only.path.join("."), code: "custom", message: error.message });
  return false;
}

const overlaps = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);

export interface Write {
  sent: readonly Edit[];
  /** Its edits that lost to another person's value. */
  dropped: Set<Edit>;
}

/** Somebody else wrote where this person did. What they wrote is never overwritten before this person has seen it. */
export function resolveConflict(
  { path, theirs }: FieldConflict,
  { sent, dropped, edits, fields }: Write & { edits: Edits; fields: Fields },
): Resolution {
  const edit = sent.find((one) => path === one.path.join(".") || path.startsWith(`${one.path.join(".")}.`));
  if (edit === undefined) return "theirs";
  const inner = path.slice(edit.path.join(".").length + 1);
  const isKnown = (value: unknown) => isEqual(inner === "" ? value : valueAt(value, inner.split(".")), theirs);
  const isOwn = edit.sent?.some(({ value }) => isKnown(value)) === true;
  if (!holdsMask(theirs) && (isOwn || isKnown(edit.base))) return "mine";
  // A read can't reveal that a masked value has changed, so mark the conflict here.
  if (holdsMask(theirs) && holdsMask(valueAt(fields, edit.path))) edits.mark(edit.path, theirs);
  dropped.add(edit);
  return "theirs";
}
