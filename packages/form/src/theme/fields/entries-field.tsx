import { type ReactElement, useReducer, useRef, useState } from "react";
import { dotted } from "../../engine/hints.ts";
import type { JsonSchema } from "../../engine/prepare-schema.ts";
import { useFormContext } from "../../form-context.ts";
import { type DrawnField, Field, type OnChange } from "./field.tsx";
import { IconButton } from "./list-field.tsx";
import { placeIn } from "./places.ts";
import { useFocusAfter } from "./use-focus-after.ts";

interface Entry {
  key: number;
  name: string;
}

interface EntriesFieldProps {
  field: DrawnField;
  values: Readonly<Record<string, unknown>>;
  /** Of the members that the schema does not name. */
  names: readonly string[];
  schemaOf(name: string): JsonSchema;
  onChange: OnChange;
}

let lastKey = 0;

/** Entries that people name themselves. An entry without a name or a value isn't stored. */
export function EntriesField({ field, values, names, schemaOf, onChange }: EntriesFieldProps): ReactElement {
  const { place, isOff, label, schema } = field;
  const { t } = useFormContext();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const entries = useRef<readonly Entry[]>([]);
  const stored = useRef<readonly string[]>([]);
  const { list, focusAfter } = useFocusAfter();
  entries.current = entriesFor(names, entries.current, stored.current);
  stored.current = names;
  const isTaken = (name: string) =>
    Object.hasOwn((schema.properties ?? {}) as object, name) || entries.current.some((entry) => entry.name === name);
  const set = (next: readonly Entry[]) => {
    entries.current = next;
    redraw();
  };

  function rename(entry: Entry, name: string): void {
    set(entries.current.map((each) => (each.key === entry.key ? { ...each, name } : each)));
    if (!Object.hasOwn(values, entry.name)) return;
    onChange(undefined, [...place.path, entry.name]);
    if (name !== "") onChange(values[entry.name], [...place.path, name]);
  }

  function add(): void {
    lastKey += 1;
    set([...entries.current, { key: lastKey, name: "" }]);
    focusAfter(lastKey, "first");
  }

  return (
    <div ref={list} data-entries={dotted(place.path)}>
      <ul className="fb-items">
        {entries.current.map((entry) => (
          <li key={entry.key} className="fb-item" data-row={entry.key}>
            <div className="fb-item-content fb-fields">
              <EntryName
                id={`${place.id}__name${entry.key}`}
                entry={entry}
                disabled={isOff}
                isTaken={isTaken}
                onRename={(name) => rename(entry, name)}
              />
              {entry.name !== "" && (
                <Field
                  schema={schemaOf(entry.name)}
                  value={values[entry.name]}
                  place={placeIn(place, entry.name, `entry${entry.key}`)}
                  name={entry.name}
                  required
                  onChange={onChange}
                />
              )}
            </div>
            {!isOff && (
              <IconButton
                label={`${t("form.remove")} ${entry.name}`}
                icon="✕"
                name="remove"
                onClick={() => {
                  set(entries.current.filter((each) => each.key !== entry.key));
                  focusAfter(undefined, "remove");
                  if (Object.hasOwn(values, entry.name)) onChange(undefined, [...place.path, entry.name]);
                }}
              />
            )}
          </li>
        ))}
      </ul>
      {!isOff && (
        <button type="button" className="fb-button" data-add="" onClick={add}>
          {t("form.addTo", { label })}
        </button>
      )}
    </div>
  );
}

/** Entries that somebody else added come last; those that somebody else removed are gone; unfinished ones stay. */
function entriesFor(names: readonly string[], known: readonly Entry[], before: readonly string[]): readonly Entry[] {
  const isGone = ({ name }: Entry) => before.includes(name) && !names.includes(name);
  const kept = known.filter((entry) => !isGone(entry));
  const fresh = names
    .filter((name) => !kept.some((entry) => entry.name === name))
    .map((name) => {
      lastKey += 1;
      return { key: lastKey, name };
    });
  return fresh.length === 0 && kept.length === known.length ? known : [...kept, ...fresh];
}

interface EntryNameProps {
  id: string;
  entry: Entry;
  disabled: boolean;
  isTaken(name: string): boolean;
  onRename(name: string): void;
}

/** The name is applied when the field is left; otherwise each letter would rename the entry. */
function EntryName({ id, entry, disabled, isTaken, onRename }: EntryNameProps): ReactElement {
  const { t } = useFormContext();
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const name = typed?.trim() ?? entry.name;
  const isWrong = name !== entry.name && isTaken(name);
  const finish = () => {
    if (isWrong) return;
    setTyped(undefined);
    if (name !== entry.name) onRename(name);
  };
  return (
    <div className="fb-field">
      <label className="fb-label" htmlFor={id}>
        {t("form.entryName")}
      </label>
      <input
        id={id}
        className="fb-input"
        type="text"
        disabled={disabled}
        value={typed ?? entry.name}
        aria-invalid={isWrong ? true : undefined}
        aria-describedby={isWrong ? `${id}__error` : undefined}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={finish}
      />
      {isWrong && (
        <p className="fb-errors" id={`${id}__error`}>
          {t("form.entryTaken")}
        </p>
      )}
    </div>
  );
}
