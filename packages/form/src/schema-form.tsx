import type { FieldError, FieldHint } from "@formbridge/contract";
import { type ReactElement, type ReactNode, useCallback, useId, useMemo, useRef } from "react";
import { changesBetween, type FieldChange, isEqual, type Typing, withChange } from "./engine/changes.ts";
import { errorsByPath } from "./engine/errors.ts";
import type { Hints } from "./engine/hints.ts";
import { type JsonSchema, prepareSchema } from "./engine/prepare-schema.ts";
import { createResolver } from "./engine/resolver.ts";
import { type FormContext, FormContexts, type FormFiles, type Place } from "./form-context.ts";
import { valueAt } from "./session/edits.ts";
import { inEnglish, type Translate } from "./texts.ts";
import { Field } from "./theme/fields/field.tsx";

export interface SchemaFormProps {
  /** The intake's JSON Schema. */
  schema: JsonSchema;
  /** The values to show. */
  fields: Record<string, unknown>;
  /** Called with what a person changed, and only that. */
  onChange(changes: FieldChange[]): void;
  fieldHints?: Record<string, FieldHint>;
  /** Draw these fields only, by dotted path: one step of several. The values of the others stay. */
  only?: readonly string[];
  errors?: readonly FieldError[];
  readOnly?: boolean;
  files?: FormFiles;
  /** Shown below a field: who filled it in, or a choice between two values. */
  note?(path: string): ReactNode;
  translate?: Translate;
  /** Callbacks that report typed text which was held back until a pause. Call each before you send. */
  pending?: Set<() => void>;
  /** Called with the first letter, before there is a change to report. */
  onTyping?(began: Typing): void;
  /** Called when the focus comes into a list, with its path, and when it leaves for a place outside of lists. */
  onListFocus?(list: Typing["path"] | undefined): void;
}

const NO_HINTS: Hints = {};

/** The form of a schema. It keeps no values of its own: it shows `fields`, and reports what is changed. */
export function SchemaForm(props: SchemaFormProps): ReactElement {
  const { schema, fields, only, files, note, translate: t = inEnglish } = props;
  const { fieldHints: hints = NO_HINTS, readOnly = false } = props;
  const newest = useRef(props);
  newest.current = props;
  const hasBegun = useRef(false);
  /** With what was reported since: the next change may come before the form is drawn again. */
  const shown = useRef(fields);
  shown.current = fields;
  const id = `fb${useId().replaceAll(/[^\w]/g, "")}`;
  const ownPending = useRef(new Set<() => void>()).current;
  const pending = props.pending ?? ownPending;
  const prepared = useMemo(() => prepareSchema(schema), [schema]);
  const resolver = useMemo(() => createResolver(prepared), [prepared]);
  const step = useSame(only);
  const errors = useSame(useMemo(() => errorsByPath(props.errors ?? [], t), [props.errors, t]));
  const onTyping = useCallback((began: Typing) => {
    hasBegun.current = true;
    newest.current.onTyping?.(began);
  }, []);
  const context = useMemo<FormContext>(
    () => ({ ...resolver, t, hints, step, readOnly, pending, onTyping }),
    [resolver, t, hints, step, readOnly, pending, onTyping],
  );
  const root = useMemo<Place>(() => ({ path: [], id }), [id]);
  const report = useCallback((value: unknown, path: Place["path"]) => {
    const at = path.map(String);
    const changes = changesBetween(valueAt(shown.current, at), value, at);
    shown.current = changes.reduce(withChange, shown.current);
    // Typing something and deleting it again changes nothing, but the session must learn that typing has ended.
    if (changes.length > 0 || hasBegun.current) newest.current.onChange(changes);
    hasBegun.current = false;
  }, []);
  return (
    <FormContexts.Form.Provider value={context}>
      <FormContexts.Errors.Provider value={errors}>
        <FormContexts.Files.Provider value={files}>
          <FormContexts.Note.Provider value={note}>
            {/* biome-ignore lint/a11y/noStaticElementInteractions: it only watches where the focus goes */}
            <div
              className="fb-form"
              onFocus={({ target }) => props.onListFocus?.(listAround(target))}
              onBlur={({ currentTarget, relatedTarget }) => {
                if (!currentTarget.contains(relatedTarget)) props.onListFocus?.(undefined);
              }}
            >
              <Field schema={prepared as JsonSchema} value={fields} place={root} name="" required onChange={report} />
            </div>
          </FormContexts.Note.Provider>
        </FormContexts.Files.Provider>
      </FormContexts.Errors.Provider>
    </FormContexts.Form.Provider>
  );
}

/** Keeps the previous object while the new one is equal, so that memoized children don't redraw. */
function useSame<Value>(value: Value): Value {
  const known = useRef(value);
  const plain = (each: Value): unknown => (each instanceof Map ? [...each] : each);
  if (!isEqual(plain(known.current), plain(value))) known.current = value;
  return known.current;
}

/** The outermost list around an element: lists inside it are part of its value. */
function listAround(element: Element): Typing["path"] | undefined {
  let list: HTMLElement | undefined;
  for (
    let at = element.closest<HTMLElement>("[data-list]");
    at;
    at = at.parentElement?.closest("[data-list]") ?? null
  ) {
    list = at;
  }
  return list && JSON.parse(list.dataset.list ?? "[]");
}
