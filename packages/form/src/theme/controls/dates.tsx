import type { ReactElement } from "react";
import type { ControlProps } from "../fields/control-field.tsx";
import { described, TextControl } from "./inputs.tsx";
import { textOf, useLocalText } from "./use-local-text.ts";

interface Kind {
  type: "date" | "time" | "datetime-local";
  /** What the native control can show. */
  fits: RegExp;
  /** From what is stored to what the control shows, and back. */
  show(stored: string): string;
  store(shown: string, before: string): string;
}

const ZONE = /(?:Z|[+-]\d\d:\d\d)$/i;
const pad = (number: number, digits = 2): string => String(number).padStart(digits, "0");

const DATE: Kind = {
  type: "date",
  fits: /^\d{4}-\d\d-\d\d$/,
  show: (stored) => stored,
  store: (shown) => shown,
};

/** JSON Schema's times have a zone. It stays as it was; a new time is in the person's own. */
const TIME: Kind = {
  type: "time",
  fits: /^\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?$/i,
  show: (stored) =>
    stored
      .replace(ZONE, "")
      .replace(/\.\d+$/, "")
      .replace(/^(\d\d:\d\d):00$/, "$1"),
  store: (shown, before) => `${shown.length === 5 ? `${shown}:00` : shown}${ZONE.exec(before)?.[0] ?? zoneNow()}`,
};

function zoneNow(): string {
  const minutes = -new Date().getTimezoneOffset();
  const sign = minutes < 0 ? "-" : "+";
  return `${sign}${pad(Math.floor(Math.abs(minutes) / 60))}:${pad(Math.abs(minutes) % 60)}`;
}

/** Shown in the person's own time, stored as an instant. */
const DATETIME: Kind = {
  type: "datetime-local",
  fits: /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/i,
  show(stored) {
    const at = new Date(stored);
    if (Number.isNaN(at.getTime())) return "";
    const date = `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
    const seconds = at.getSeconds() === 0 ? "" : `:${pad(at.getSeconds())}`;
    return `${date}T${pad(at.getHours())}:${pad(at.getMinutes())}${seconds}`;
  },
  store(shown) {
    const at = new Date(shown);
    return Number.isNaN(at.getTime()) ? shown : at.toISOString();
  },
};

/** A native control for what it can show; anything else stays text, to be corrected by hand. */
function Dated({ kind, control }: { kind: Kind; control: ControlProps }): ReactElement {
  const text = textOf(control.value);
  return text === "" || kind.fits.test(text) ? (
    <NativeDate kind={kind} control={control} />
  ) : (
    <TextControl {...control} />
  );
}

function NativeDate({ kind, control }: { kind: Kind; control: ControlProps }): ReactElement {
  const { value, onChange } = control;
  const local = useLocalText(
    value,
    (shown) => onChange(shown === "" ? undefined : kind.store(shown, textOf(value))),
    (stored) => (textOf(stored) === "" ? "" : kind.show(textOf(stored))),
  );
  return (
    <input
      {...described(control)}
      className="fb-input fb-date"
      type={kind.type}
      value={local.text}
      onInput={(event) => {
        // A half-typed date reads as empty: keep the previous value until it is complete.
        if (!event.currentTarget.validity.badInput) local.onInput(event.currentTarget.value);
      }}
      onFocus={local.onFocus}
      onBlur={local.onBlur}
    />
  );
}

export const DateControl = (props: ControlProps): ReactElement => <Dated kind={DATE} control={props} />;
export const TimeControl = (props: ControlProps): ReactElement => <Dated kind={TIME} control={props} />;
export const DateTimeControl = (props: ControlProps): ReactElement => <Dated kind={DATETIME} control={props} />;
