import type { FieldError } from "@formbridge/contract";
import { type FieldChange, type FieldPath, isEqual, isObject, type Typing, withChange } from "../engine/changes.ts";
import { couldBe, holdsMask, isMasked } from "../engine/masks.ts";

/** Something that a person typed and the server has not confirmed yet. */
export interface Edit {
  path: FieldPath;
  /** Absent when the field was emptied. */
  value?: unknown;
  /** What the field held when the person began to change it. */
  base?: unknown;
  /** Somebody else changed the field to this meanwhile. The edit is held back until the person has chosen. */
  theirs?: Held;
  /** Values sent in writes without a response, which may or may not be stored. If the server has one of them, it isn't a conflict. */
  sent?: readonly Held[];
  /** The server can't store this value. The edit is held back until it is changed. */
  refused?: FieldError;
}

interface Held {
  value?: unknown;
}

export type Fields = Record<string, unknown>;

/** Edits by path. They never nest: an edit of an object absorbs the edits of its members. */
export class Edits {
  readonly #byPath = new Map<string, Edit>();
  /** What is shown in fields that the person is editing, which are not redrawn: the base of the next edit there. */
  readonly #begun = new Map<string, { path: FieldPath; value: unknown; isList: boolean }>();
  /** The value this person wrote last, by path: never a conflict when the server has it. */
  readonly #own = new Map<string, unknown>();
  /** The list that has the focus. */
  #held: string | undefined;

  static of(edits: Iterable<Edit>): Edits {
    const made = new Edits();
    for (const edit of edits) made.#byPath.set(keyOf(edit.path), edit);
    return made;
  }

  get size(): number {
    return this.#byPath.size;
  }
  [Symbol.iterator](): Iterator<Edit> {
    return this.#byPath.values();
  }
  at(path: FieldPath): Edit | undefined {
    return this.#byPath.get(keyOf(path));
  }

  /** The value that is being typed over may not be the newest one: a field with the focus is not redrawn. */
  begin({ path, over }: Typing, server: Fields): void {
    const whole = pathOfWhole(path, server);
    const key = keyOf(whole);
    const now = valueAt(server, whole);
    if (whole.length < path.length) this.#keepShown(whole, server);
    else this.#begun.set(key, { path: whole, value: this.#isOwn(key, now) ? now : over, isList: false });
  }

  /** A list that has the focus stays as it is shown: the form would lose the focus when its length changes. */
  hold(path: Typing["path"], server: Fields): void {
    const whole = pathOfWhole(path, server);
    this.#held = keyOf(whole);
    this.#keepShown(whole, server);
  }

  /** Lists that have lost the focus are shown as they are again; the one that has it, if any, still is not. */
  release(path: Typing["path"] | undefined, server: Fields): void {
    this.#held = path && keyOf(pathOfWhole(path, server));
    for (const [key, { isList }] of this.#begun) if (isList && key !== this.#held) this.#begun.delete(key);
  }

  #keepShown(path: FieldPath, server: Fields): void {
    const key = keyOf(path);
    if (!this.#begun.has(key)) {
      this.#begun.set(key, { path, value: valueAt(this.over(server), path), isList: true });
    }
  }

  /** Records changes made on top of what the server said. A value typed back to what it was is no edit any more. */
  change(changes: readonly FieldChange[], server: Fields): void {
    for (const { path, value } of changes) {
      const around = this.#around(path);
      if (around === undefined) this.#put({ path, value }, server);
      else this.#put({ path: around.path, value: inside(around.value, rest(path, around.path), value) }, server);
    }
    this.meet(server);
  }

  #put({ path, value }: FieldChange, server: Fields): void {
    const key = keyOf(path);
    const known = this.#byPath.get(key);
    const begun = this.#begun.get(key);
    const found = this.#takeIn(path, server);
    const before = begun === undefined ? found : begun.value;
    const base = known === undefined ? before : known.base;
    this.#begun.delete(key);
    const { theirs, sent } = known ?? {};
    const edit = editOf({ path, value, base, theirs, sent });
    const isBack = isEqual(value, base) || (theirs === undefined && isEqual(value, valueAt(server, path)));
    if (isBack && sent === undefined) this.#drop(edit);
    else this.#byPath.set(key, edit);
  }

  /** Absorbs the edits inside `path` and returns the base that they share. */
  #takeIn(path: FieldPath, server: Fields): unknown {
    let base = valueAt(server, path);
    for (const [key, edit] of this.#byPath) {
      if (!isInside(edit.path, path)) continue;
      base = inside(base, rest(edit.path, path), edit.base);
      this.#byPath.delete(key);
    }
    return base;
  }

  #around(path: FieldPath): Edit | undefined {
    for (let length = path.length - 1; length > 0; length--) {
      const found = this.at(path.slice(0, length));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Removes a confirmed edit. A list with the focus keeps showing its value, so that it isn't redrawn. */
  #drop({ path, value }: Edit): void {
    const key = keyOf(path);
    this.#byPath.delete(key);
    this.#own.set(key, value);
    if (key === this.#held) this.#begun.set(key, { path, value, isList: true });
  }

  /** Marks edits as sent. Until the response arrives, it is unknown whether they are stored. */
  send(edits: readonly Edit[]): void {
    for (const { path, value } of edits) {
      const known = this.at(path);
      if (known === undefined) continue;
      this.#byPath.set(keyOf(path), { ...known, sent: [...(known.sent ?? []), held(value)] });
    }
  }

  /** The server has stored these. What was typed since they were sent stays an edit, on top of them. */
  confirm(stored: readonly Edit[]): void {
    for (const { path, value } of stored) {
      const known = this.at(path);
      const around = this.#around(path);
      if (around !== undefined) {
        const base = inside(around.base, rest(path, around.path), value);
        this.#byPath.set(keyOf(around.path), editOf({ ...around, base }));
      }
      this.#own.set(keyOf(path), value);
      if (known === undefined) continue;
      if (isEqual(known.value, value)) this.#drop(known);
      else this.#byPath.set(keyOf(path), editOf({ path, value: known.value, base: value }));
    }
  }

  /** The server has not stored these, and never will: the write was made on a version that is gone, or was refused. */
  unsend(edits: readonly Edit[], which: "all" | "last"): void {
    for (const { path } of edits) {
      const known = this.at(path);
      if (known === undefined) continue;
      const sent = which === "all" ? [] : (known.sent ?? []).slice(0, -1);
      this.#byPath.set(keyOf(path), editOf({ ...known, sent }));
    }
  }

  /** The server can't store the edit. It is tried again when it has been changed. */
  refuse({ path, value }: Edit, refused: FieldError): void {
    const known = this.at(path);
    if (known !== undefined && isEqual(known.value, value)) this.#byPath.set(keyOf(path), { ...known, refused });
  }

  /** Compares every edit with what the server says now, and marks those that somebody else changed too. */
  meet(server: Fields): void {
    for (const edit of [...this]) {
      const now = valueAt(server, edit.path);
      const { sent = [], base, value, theirs, ...others } = edit;
      const key = keyOf(edit.path);
      const isOwn = this.#isOwn(key, now) || sent.some((one) => couldBe(now, one.value));
      // A write that is still in flight could bring an older value back.
      const isSettled = sent.every((one) => isEqual(one.value, value));
      // What is behind a mask can't be compared; the server says when somebody else changed it.
      const isOpen = theirs === undefined ? isMasked(now) && sent.length > 0 && !isOwn : holdsMask(now);
      if (isEqual(now, value) && isSettled) this.#drop(edit);
      else if (isOpen) continue;
      else if (isOwn) this.#byPath.set(key, editOf({ ...others, sent, value, base: now }));
      else if (isEqual(now, base)) this.#byPath.set(key, editOf({ ...others, sent, value, base }));
      else this.mark(edit.path, now);
    }
  }

  #isOwn(key: string, value: unknown): boolean {
    return this.#own.has(key) && couldBe(value, this.#own.get(key));
  }

  mark(path: FieldPath, theirs: unknown): void {
    const known = this.at(path);
    if (known !== undefined) this.#byPath.set(keyOf(path), { ...known, theirs: held(theirs) });
  }

  /** The person has chosen. Their own value is an edit again; with the other one it is gone. */
  choose(path: FieldPath, choice: "mine" | "theirs"): void {
    const edit = this.at(path);
    if (edit?.theirs === undefined) return;
    const key = keyOf(path);
    this.#begun.delete(key);
    if (choice === "theirs") this.#byPath.delete(key);
    else this.#byPath.set(key, editOf({ path, value: edit.value, base: edit.theirs.value, sent: edit.sent }));
  }

  /** Adopts unsaved edits of a closed tab. Returns those that overlap an edit of this one. */
  adopt(edits: readonly Edit[], server: Fields): Edit[] {
    const left: Edit[] = [];
    for (const { refused: _, ...edit } of edits) {
      const isTaken = [...this].some(({ path }) => overlaps(path, edit.path));
      if (isTaken) left.push(edit);
      else this.#byPath.set(keyOf(edit.path), edit);
    }
    this.meet(server);
    return left;
  }

  /** What can be sent: all but the edits that wait for the person. */
  ready(): Edit[] {
    return [...this].filter(({ theirs, refused }) => theirs === undefined && refused === undefined);
  }

  conflicts(): Edit[] {
    return [...this].filter(({ theirs }) => theirs !== undefined);
  }

  refused(): FieldError[] {
    return [...this].flatMap(({ refused }) => (refused === undefined ? [] : [refused]));
  }

  /** The fields as the person sees them. */
  over(server: Fields): Fields {
    let fields = server;
    for (const begun of this.#begun.values()) if (begun.isList) fields = withChange(fields, begun);
    for (const edit of this) fields = withChange(fields, edit);
    return fields;
  }
}

/** An edit without undefined members. */
function editOf(edit: { [Name in keyof Edit]?: Edit[Name] | undefined } & { path: FieldPath }): Edit {
  const { path, value, base, theirs, sent, refused } = edit;
  return {
    path,
    ...(value !== undefined && { value }),
    ...(base !== undefined && { base }),
    ...(theirs && { theirs }),
    ...(sent !== undefined && sent.length > 0 && { sent }),
    ...(refused && { refused }),
  };
}

const held = (value: unknown): Held => (value === undefined ? {} : { value });

/** A copy of `value` with `inner` at `path`. */
function inside(value: unknown, path: FieldPath, inner: unknown): unknown {
  return withChange(isObject(value) ? value : {}, { path, value: inner });
}

/** A list is one value: typing inside one is typing over all of it. */
function pathOfWhole(path: Typing["path"], fields: Fields): FieldPath {
  const whole: string[] = [];
  for (const name of path) {
    if (typeof name === "number" || Array.isArray(valueAt(fields, whole))) return whole;
    whole.push(name);
  }
  return whole;
}

const keyOf = (path: FieldPath): string => JSON.stringify(path);

const rest = (path: FieldPath, around: FieldPath): FieldPath => path.slice(around.length);

const isInside = (inner: FieldPath, outer: FieldPath): boolean =>
  inner.length > outer.length && outer.every((name, index) => inner[index] === name);

const overlaps = (one: FieldPath, other: FieldPath): boolean =>
  keyOf(one) === keyOf(other) || isInside(one, other) || isInside(other, one);

export function valueAt(fields: unknown, path: FieldPath): unknown {
  let value = fields;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Fields)[name];
  }
  return value;
}
