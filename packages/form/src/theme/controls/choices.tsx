import type { ReactElement } from "react";
import { isEqual } from "../../engine/changes.ts";
import { useFormContext } from "../../form-context.ts";
import type { ControlProps, NamedChoice } from "../fields/control-field.tsx";
import { described } from "./inputs.tsx";
import { useChosen } from "./use-chosen.ts";

export function SelectControl(props: ControlProps): ReactElement {
  const { value, choices, onChange, placeholder } = props;
  const { t } = useFormContext();
  const chosen = choices.findIndex((choice) => isEqual(choice.value, value));
  return (
    <select
      {...described(props)}
      className="fb-input fb-select"
      value={chosen === -1 ? "" : String(chosen)}
      onChange={(event) => {
        const index = event.currentTarget.value;
        onChange(index === "" ? undefined : choices[Number(index)]?.value);
      }}
    >
      <option value="">{placeholder ?? t("form.choose")}</option>
      {choices.map(({ label }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: options never move, and two may have the same label
        <option key={index} value={String(index)}>
          {label}
        </option>
      ))}
    </select>
  );
}

const optionId = (id: string, index: number): string => `${id}-${index}`;

/** Few enough to see them all. A "no" is an answer too, so yes and no are two buttons and not one box. */
export function RadioControl(props: ControlProps): ReactElement {
  const { id, value, choices, onChange, disabled, required, label } = props;
  const { t } = useFormContext();
  const isChosen = choices.some((choice) => isEqual(choice.value, value));
  return (
    <div
      role="radiogroup"
      id={id}
      className="fb-options"
      aria-labelledby={`${id}__label`}
      aria-describedby={props.describedBy}
      aria-required={required ? true : undefined}
      aria-invalid={props.isInvalid ? true : undefined}
    >
      {choices.map((choice, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: options never move, and two may have the same label
        <label key={index} className="fb-option" htmlFor={optionId(id, index)}>
          <input
            type="radio"
            id={optionId(id, index)}
            name={id}
            disabled={disabled}
            checked={isEqual(choice.value, value)}
            onChange={() => onChange(choice.value)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
      {!required && isChosen && !disabled && (
        <button type="button" className="fb-button fb-quiet" onClick={() => onChange(undefined)}>
          {t("form.clear")}
          <span className="fb-sr"> {label}</span>
        </button>
      )}
    </div>
  );
}

/** A consent. Unticking stores `false` where the schema allows it. */
export function CheckboxControl(props: ControlProps): ReactElement {
  const { id, value, choices, onChange, label, required } = props;
  const { t } = useFormContext();
  const no = choices.find((choice) => choice.value === false);
  return (
    <label className="fb-option" htmlFor={id}>
      <input
        {...described(props)}
        type="checkbox"
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked ? true : no?.value)}
      />
      <span>
        {label}
        {!required && <span className="fb-optional"> ({t("form.optional")})</span>}
      </span>
    </label>
  );
}

export function CheckboxesControl(props: ControlProps): ReactElement {
  const { id, choices, disabled } = props;
  const { isChosen, toggle } = useChosen(props);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would want a legend, and the label stands outside
    <div
      role="group"
      id={id}
      className="fb-options"
      aria-labelledby={`${id}__label`}
      aria-describedby={props.describedBy}
    >
      {choices.map((choice: NamedChoice, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: options never move, and two may have the same label
        <label key={index} className="fb-option" htmlFor={optionId(id, index)}>
          <input
            type="checkbox"
            id={optionId(id, index)}
            name={id}
            disabled={disabled}
            checked={isChosen(choice)}
            onChange={() => toggle(choice)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </div>
  );
}
