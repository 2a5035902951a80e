import { type KeyboardEvent, type ReactElement, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { isEqual } from "../../engine/changes.ts";
import { matching } from "../../engine/search.ts";
import { useFormContext } from "../../form-context.ts";
import type { ControlProps, NamedChoice } from "../fields/control-field.tsx";
import { described } from "./inputs.tsx";
import { useChosen } from "./use-chosen.ts";

/** Show one page of matches; typing more narrows them down. */
const MAX_SHOWN = 50;

/** One of many, searched by typing. */
export function ComboboxControl(props: ControlProps): ReactElement {
  const { value, choices, onChange, required, disabled, label } = props;
  const { t } = useFormContext();
  const chosen = choices.find((choice) => isEqual(choice.value, value));
  return (
    <span className="fb-combobox">
      <SearchBox
        control={props}
        shownText={chosen?.label ?? ""}
        isChosen={(choice) => choice === chosen}
        onPick={(choice) => onChange(choice.value)}
      />
      {chosen !== undefined && !required && !disabled && (
        <button type="button" className="fb-button fb-quiet" onClick={() => onChange(undefined)}>
          {t("form.clear")}
          <span className="fb-sr"> {label}</span>
        </button>
      )}
    </span>
  );
}

/** Several of many: what is chosen stands above the box, each with a button that takes it back. */
export function MultiComboboxControl(props: ControlProps): ReactElement {
  const { disabled, label } = props;
  const { t } = useFormContext();
  const { chosen, isChosen, toggle } = useChosen(props);
  return (
    <span className="fb-combobox">
      {chosen.length > 0 && (
        <ul className="fb-chosen" aria-label={`${label}: ${t("form.chosen", { count: chosen.length })}`}>
          {chosen.map((choice) => (
            <li key={JSON.stringify(choice.value)}>
              <button type="button" className="fb-button fb-chip" disabled={disabled} onClick={() => toggle(choice)}>
                <span className="fb-sr">{t("form.remove")} </span>
                {choice.label}
                <span aria-hidden="true">✕</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <SearchBox control={props} shownText="" isChosen={isChosen} onPick={toggle} isMany />
    </span>
  );
}

interface SearchBoxProps {
  control: ControlProps;
  /** What the box shows while nobody searches. */
  shownText: string;
  isChosen(choice: NamedChoice): boolean;
  onPick(choice: NamedChoice): void;
  /** Stays open after a choice. */
  isMany?: boolean;
}

/** Follows the ARIA pattern of an editable combobox with a list. */
function SearchBox({ control, shownText, isChosen, onPick, isMany = false }: SearchBoxProps): ReactElement {
  const { id, choices, label, disabled } = control;
  const { t } = useFormContext();
  const [query, setQuery] = useState<string | undefined>(undefined);
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const isOpen = query !== undefined && !disabled;
  const sought = useDeferredValue(query ?? "");
  const shown = useMemo(() => (isOpen ? matching(choices, sought).slice(0, MAX_SHOWN) : []), [choices, sought, isOpen]);
  const listId = `${id}__list`;

  useEffect(() => {
    if (isOpen) list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [isOpen, active]);

  function pick(choice: NamedChoice): void {
    setQuery(isMany ? "" : undefined);
    setActive(isMany && query === "" ? active : 0);
    onPick(choice);
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown" && !isOpen) setQuery("");
    else if (event.key === "ArrowDown") setActive(Math.min(active + 1, shown.length - 1));
    else if (!isOpen) return;
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
    else if (event.key === "Escape") setQuery(undefined);
    else if (event.key === "Enter" && shown[active] !== undefined) pick(shown[active]);
    else return;
    event.preventDefault();
  }

  return (
    <>
      <input
        {...described(control)}
        className="fb-input"
        type="text"
        role="combobox"
        autoComplete="off"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && shown[active] !== undefined ? `${listId}-${active}` : undefined}
        placeholder={control.placeholder ?? t("form.search")}
        value={query ?? shownText}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
        onClick={() => setQuery(query ?? "")}
        onKeyDown={onKeyDown}
        onBlur={() => setQuery(undefined)}
      />
      <div
        id={listId}
        ref={list}
        role="listbox"
        className="fb-list"
        hidden={!isOpen}
        aria-label={label}
        aria-multiselectable={isMany ? true : undefined}
      >
        {shown.map((choice, index) => (
          // The list belongs to the text box, which handles the keys and keeps the focus.
          // biome-ignore lint/a11y/useFocusableInteractive: options of a combobox are reached by aria-activedescendant
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text box handles the keys
          <div
            key={JSON.stringify(choice.value)}
            id={`${listId}-${index}`}
            role="option"
            className="fb-list-option"
            data-active={index === active ? "" : undefined}
            aria-selected={isChosen(choice)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(choice)}
          >
            {choice.label}
          </div>
        ))}
        {isOpen && shown.length === 0 && <div className="fb-list-empty">{t("form.noMatch")}</div>}
      </div>
    </>
  );
}
