import { type ComponentType, type ReactElement, useCallback, useMemo, useRef } from "react";
import type { Choice, Control } from "../../engine/drawing.ts";
import { dotted } from "../../engine/hints.ts";
import { isMasked } from "../../engine/masks.ts";
import type { JsonSchema } from "../../engine/prepare-schema.ts";
import { useFormContext } from "../../form-context.ts";
import { CheckboxControl, CheckboxesControl, RadioControl, SelectControl } from "../controls/choices.tsx";
import { ComboboxControl, MultiComboboxControl } from "../controls/combobox.tsx";
import { DateControl, DateTimeControl, TimeControl } from "../controls/dates.tsx";
import { AnythingControl, NumberControl, SecretControl, TextareaControl, TextControl } from "../controls/inputs.tsx";
import { describedBy, Frame, useErrors } from "../frame.tsx";
import type { DrawnField } from "./field.tsx";

/** What every control is given. */
export interface ControlProps {
  id: string;
  label: string;
  schema: JsonSchema;
  value: unknown;
  choices: readonly NamedChoice[];
  placeholder: string | undefined;
  required: boolean;
  disabled: boolean;
  isInvalid: boolean;
  describedBy: string | undefined;
  /** Called with nothing when the field is emptied. */
  onChange(value: unknown): void;
}

export interface NamedChoice {
  value: unknown;
  label: string;
}

const CONTROLS: Readonly<Record<Control, ComponentType<ControlProps>>> = {
  text: TextControl,
  textarea: TextareaControl,
  number: NumberControl,
  secret: SecretControl,
  anything: AnythingControl,
  date: DateControl,
  time: TimeControl,
  datetime: DateTimeControl,
  yesno: RadioControl,
  radio: RadioControl,
  select: SelectControl,
  combobox: ComboboxControl,
  checkbox: CheckboxControl,
  checkboxes: CheckboxesControl,
  multicombobox: MultiComboboxControl,
};

/** Several controls under one label. */
const GROUPS: ReadonlySet<Control> = new Set(["radio", "yesno", "checkboxes"]);

interface ControlFieldProps {
  field: DrawnField;
  control: Control;
  choices: readonly Choice[];
}

export function ControlField({ field, control, choices }: ControlFieldProps): ReactElement {
  const { place, label, schema, value, required, isOff, onChange } = field;
  const { t } = useFormContext();
  const errors = useErrors(dotted(place.path));
  const change = useCallback((next: unknown) => onChange(next, place.path), [onChange, place]);
  const named = useMemo(
    () => choices.map((choice) => ({ value: choice.value, label: nameOf(choice, t) })),
    [choices, t],
  );
  // It stays a box for secrets while it is being typed over.
  const wasMasked = useRef(false);
  if (isMasked(value)) wasMasked.current = true;
  const Drawn = wasMasked.current ? SecretControl : CONTROLS[control];
  return (
    <Frame field={field} isGroup={GROUPS.has(control)} hasOwnLabel={control === "checkbox"}>
      <Drawn
        id={place.id}
        label={label}
        schema={schema}
        value={value}
        choices={named}
        placeholder={placeholderOf(field)}
        required={required}
        disabled={isOff}
        isInvalid={errors.length > 0}
        describedBy={describedBy(field, errors)}
        onChange={change}
      />
    </Frame>
  );
}

function nameOf({ value, label }: Choice, t: ReturnType<typeof useFormContext>["t"]): string {
  if (label !== undefined) return label;
  if (typeof value === "boolean") return t(value ? "form.yes" : "form.no");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function placeholderOf({ hint: { placeholder, example } }: DrawnField): string | undefined {
  if (placeholder !== undefined) return placeholder;
  return typeof example === "string" || typeof example === "number" ? String(example) : undefined;
}
