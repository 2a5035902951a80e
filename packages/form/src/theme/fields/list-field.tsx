import { memo, type ReactElement, useCallback, useMemo, useReducer, useRef } from "react";
import { isObject, withChange } from "../../engine/changes.ts";
import { type JsonSchema, prepareAnything } from "../../engine/prepare-schema.ts";
import { moved, type Row, rowsFor, storedIndexes, tupleOf, valuesOf } from "../../engine/rows.ts";
import { type Place, useFormContext } from "../../form-context.ts";
import { type DrawnField, Field } from "./field.tsx";
import { placeIn } from "./places.ts";
import { useFocusAfter } from "./use-focus-after.ts";

/** A list: items to fill in, move and remove. It is stored as one value, without the rows that are still empty. */
export function ListField({ field }: { field: DrawnField }): ReactElement {
  const { schema, isOff, label } = field;
  const { t } = useFormContext();
  const { rows, set, change, addRow } = useRows(field);
  const { fixed, more } = itemsOf(schema);
  const { list, focusAfter } = useFocusAfter();
  const most = typeof schema.maxItems === "number" ? schema.maxItems : Number.POSITIVE_INFINITY;
  const indexes = fixed.length > 0 ? rows.map((_, index) => index) : storedIndexes(rows);

  const move = (from: number, to: number, which: "up" | "down") => {
    set(moved(rows, from, to));
    focusAfter(rows[from]?.key, which);
  };
  const remove = (index: number) => {
    set(rows.toSpliced(index, 1));
    focusAfter((rows[index + 1] ?? rows[index - 1])?.key, "remove");
  };

  return (
    <div ref={list}>
      {rows.length === 0 && <p className="fb-help">{t("form.emptyList")}</p>}
      <ol className="fb-items">
        {rows.map((row, index) => {
          const isFixed = index < fixed.length;
          return (
            <li key={row.key} className="fb-item" data-row={row.key}>
              <Item
                field={field}
                row={row}
                index={indexes[index] ?? index}
                number={index + 1}
                schema={fixed[index] ?? more ?? prepareAnything()}
                onChange={change}
              />
              {!isOff && !isFixed && (
                <ItemButtons
                  number={index + 1}
                  {...(index > fixed.length && { onUp: () => move(index, index - 1, "up") })}
                  {...(index < rows.length - 1 && { onDown: () => move(index, index + 1, "down") })}
                  isAlone={rows.length - fixed.length < 2}
                  onRemove={() => remove(index)}
                />
              )}
            </li>
          );
        })}
      </ol>
      {more !== undefined && !isOff && rows.length < most && (
        <button type="button" className="fb-button" data-add="" onClick={() => focusAfter(addRow(), "first")}>
          {t("form.addTo", { label })}
        </button>
      )}
    </div>
  );
}

let lastKey = 0;
const newKey = (): number => {
  lastKey += 1;
  return lastKey;
};

/** The rows, kept here because those that are still empty are stored nowhere else. */
function useRows({ value, schema, place, onChange }: DrawnField) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const { fixed } = itemsOf(schema);
  const read = fixed.length > 0 ? tupleOf : valuesOf;
  const known = useRef<readonly Row[]>([]);
  const fresh = rowsFor(Array.isArray(value) ? value : [], { rows: known.current, read, newKey });
  const missing = Math.max(0, fixed.length - fresh.length);
  known.current = [...fresh, ...Array.from({ length: missing }, () => ({ key: newKey(), value: undefined }))];
  const newest = useRef({ read, place, onChange });
  newest.current = { read, place, onChange };

  const set = useCallback((rows: readonly Row[]) => {
    known.current = rows;
    redraw();
    const values = newest.current.read(rows);
    newest.current.onChange(values.length === 0 ? undefined : values, newest.current.place.path);
  }, []);
  /** By key and not by index: an item may be gone, or elsewhere, by the time that its last text arrives. */
  const change = useCallback(
    (key: number, next: unknown, inner: Place["path"]) => {
      // Report even if the row is gone: the session waits for the text that was being typed.
      set(known.current.map((row) => (row.key === key ? { key, value: valueWith(row.value, inner, next) } : row)));
    },
    [set],
  );
  const addRow = (): number => {
    const key = newKey();
    known.current = [...known.current, { key, value: undefined }];
    redraw();
    return key;
  };
  return { rows: known.current, set, change, addRow };
}

function valueWith(value: unknown, path: Place["path"], next: unknown): unknown {
  if (path.length === 0) return next;
  return withChange(isObject(value) ? value : {}, { path: path.map(String), value: next });
}

/** The schemas of the first items, where each has its own, and that of the others. */
function itemsOf({ items, additionalItems }: JsonSchema): { fixed: JsonSchema[]; more: JsonSchema | undefined } {
  if (!Array.isArray(items)) return { fixed: [], more: isObject(items) ? items : undefined };
  return { fixed: items.filter(isObject), more: isObject(additionalItems) ? additionalItems : undefined };
}

interface ItemProps {
  field: DrawnField;
  row: Row;
  /** Its path in what is stored. */
  index: number;
  number: number;
  schema: JsonSchema;
  onChange(key: number, value: unknown, path: Place["path"]): void;
}

const Item = memo(function Item({ field, row, index, number, schema, onChange }: ItemProps): ReactElement {
  const { t } = useFormContext();
  const { place, label } = field;
  const inner = useMemo(() => placeIn(place, index, String(row.key)), [place, index, row.key]);
  const depth = place.path.length + 1;
  const change = useCallback(
    (value: unknown, path: Place["path"]) => onChange(row.key, value, path.slice(depth)),
    [onChange, row.key, depth],
  );
  const name = t("form.item", { label, number });
  return (
    <div className="fb-item-content">
      <Field schema={schema} value={row.value} place={inner} name={name} required onChange={change} />
    </div>
  );
});

interface ItemButtonsProps {
  number: number;
  isAlone: boolean;
  onUp?(): void;
  onDown?(): void;
  onRemove(): void;
}

function ItemButtons({ number, isAlone, onUp, onDown, onRemove }: ItemButtonsProps): ReactElement {
  const { t } = useFormContext();
  return (
    <div className="fb-item-buttons">
      {!isAlone && (
        <>
          <IconButton label={`${t("form.moveUp")} ${number}`} icon="↑" name="up" onClick={onUp} />
          <IconButton label={`${t("form.moveDown")} ${number}`} icon="↓" name="down" onClick={onDown} />
        </>
      )}
      <IconButton label={`${t("form.remove")} ${number}`} icon="✕" name="remove" onClick={onRemove} />
    </div>
  );
}

interface IconButtonProps {
  label: string;
  icon: string;
  name: string;
  onClick: (() => void) | undefined;
}

export const IconButton = ({ label, icon, name, onClick }: IconButtonProps): ReactElement => (
  <button
    type="button"
    className="fb-button fb-icon"
    data-button={name}
    aria-label={label}
    title={label}
    disabled={onClick === undefined}
    onClick={onClick}
  >
    <span aria-hidden="true">{icon}</span>
  </button>
);
