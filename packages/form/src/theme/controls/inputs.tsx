import { type ReactElement, useState } from "react";
import { isMasked } from "../../engine/masks.ts";
import { numberIn } from "../../engine/numbers.ts";
import { useFormContext } from "../../form-context.ts";
import type { ControlProps } from "../fields/control-field.tsx";
import { textOf, useLocalText } from "./use-local-text.ts";

/** Chooses the on-screen keyboard only; the server validates. */
const INPUT_MODES: Readonly<Record<string, "email" | "url" | "tel">> = {
  email: "email",
  "idn-email": "email",
  uri: "url",
  url: "url",
  iri: "url",
  tel: "tel",
  phone: "tel",
};

/** The attributes that describe a control to assistive technology. */
export const described = (props: ControlProps) => ({
  id: props.id,
  name: props.id,
  disabled: props.disabled,
  "aria-describedby": props.describedBy,
  "aria-invalid": props.isInvalid ? (true as const) : undefined,
  "aria-required": props.required ? (true as const) : undefined,
});

export function TextControl(props: ControlProps): ReactElement {
  const { value, onChange, schema } = props;
  const local = useLocalText(value, (text) => onChange(text === "" ? undefined : text));
  const mode = INPUT_MODES[String(schema.format ?? "")];
  return (
    <input
      {...described(props)}
      className="fb-input"
      type={mode ?? "text"}
      autoComplete={mode}
      placeholder={props.placeholder}
      value={local.text}
      onInput={(event) => local.onInput(event.currentTarget.value)}
      onFocus={local.onFocus}
      onBlur={local.onBlur}
    />
  );
}

export function TextareaControl(props: ControlProps): ReactElement {
  const { value, onChange } = props;
  const local = useLocalText(value, (text) => onChange(text === "" ? undefined : text));
  return (
    <textarea
      {...described(props)}
      className="fb-input fb-textarea"
      rows={4}
      placeholder={props.placeholder}
      value={local.text}
      onInput={(event) => local.onInput(event.currentTarget.value)}
      onFocus={local.onFocus}
      onBlur={local.onBlur}
    />
  );
}

/** A text box with a numeric keyboard: number boxes change when the mouse wheel turns, and drop text that isn't a number yet. */
export function NumberControl(props: ControlProps): ReactElement {
  const { value, onChange, schema } = props;
  const local = useLocalText(value, (text) => onChange(numberIn(text)));
  return (
    <input
      {...described(props)}
      className="fb-input fb-number"
      type="text"
      inputMode={schema.type === "integer" ? "numeric" : "decimal"}
      placeholder={props.placeholder}
      value={local.text}
      onInput={(event) => local.onInput(event.currentTarget.value)}
      onFocus={local.onFocus}
      onBlur={local.onBlur}
    />
  );
}

export function SecretControl(props: ControlProps): ReactElement {
  const { value, onChange, schema } = props;
  const { t } = useFormContext();
  const isNumber = schema.type === "number" || schema.type === "integer";
  const [shown, setShown] = useState(false);
  const isHidden = isMasked(value);
  const local = useLocalText(
    value,
    (text) => onChange(isNumber ? numberIn(text) : text === "" ? undefined : text),
    (shownValue) => (isMasked(shownValue) ? "" : textOf(shownValue)),
  );
  return (
    <span className="fb-secret">
      <input
        {...described(props)}
        className="fb-input"
        type={shown ? "text" : "password"}
        autoComplete="off"
        spellCheck={false}
        placeholder={isHidden ? t("form.hidden") : props.placeholder}
        value={local.text}
        onInput={(event) => local.onInput(event.currentTarget.value)}
        onFocus={local.onFocus}
        onBlur={local.onBlur}
      />
      <button type="button" className="fb-button fb-quiet" aria-pressed={shown} onClick={() => setShown(!shown)}>
        {t(shown ? "form.hide" : "form.show")}
        <span className="fb-sr"> {props.label}</span>
      </button>
    </span>
  );
}

/** For a schema without a type: text, unless the value is something else already. */
export function AnythingControl(props: ControlProps): ReactElement {
  const { value, onChange } = props;
  if (value === undefined || typeof value === "string") return <TextareaControl {...props} />;
  return <TextareaControl {...props} onChange={(text) => onChange(typeof text === "string" ? parsed(text) : text)} />;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
