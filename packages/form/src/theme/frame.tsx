import { type ReactElement, type ReactNode, useContext } from "react";
import { dotted } from "../engine/hints.ts";
import { FormContexts, useFormContext } from "../form-context.ts";
import type { DrawnField } from "./fields/field.tsx";

const NO_ERRORS: readonly string[] = [];

export function useErrors(path: string): readonly string[] {
  return useContext(FormContexts.Errors).get(path) ?? NO_ERRORS;
}

const descriptionIdOf = (id: string): string => `${id}__description`;
const helpIdOf = (id: string): string => `${id}__help`;
const errorIdOf = (id: string): string => `${id}__error`;

/** The ids of the texts that describe a control, if any. */
export function describedBy({ schema, hint, place }: DrawnField, errors: readonly string[]): string | undefined {
  const ids = [
    errors.length > 0 && errorIdOf(place.id),
    descriptionOf({ schema, hint }) !== undefined && descriptionIdOf(place.id),
    hint.help !== undefined && helpIdOf(place.id),
  ].filter((id) => id !== false);
  return ids.length === 0 ? undefined : ids.join(" ");
}

const descriptionOf = ({ schema, hint }: Pick<DrawnField, "schema" | "hint">): string | undefined =>
  hint.description ?? (typeof schema.description === "string" ? schema.description : undefined);

interface FrameProps {
  field: DrawnField;
  /** Several controls under one label. */
  isGroup: boolean;
  /** The control carries the label itself. */
  hasOwnLabel?: boolean;
  children: ReactNode;
}

/** One field: label, help, control, who filled it in, and what is wrong with it. */
export function Frame({ field, isGroup, hasOwnLabel, children }: FrameProps): ReactElement {
  const { place, label, required, isBare } = field;
  const path = dotted(place.path);
  const errors = useErrors(path);
  if (isBare === true) {
    return (
      <div className="fb-field">
        {hasOwnLabel !== true && <Label id={place.id} label={label} isGroup={isGroup} required />}
        <FormContexts.Path.Provider value={place.path}>{children}</FormContexts.Path.Provider>
      </div>
    );
  }
  return (
    <div className="fb-field" data-path={path} data-invalid={errors.length > 0 ? "" : undefined}>
      {hasOwnLabel !== true && <Label id={place.id} label={label} isGroup={isGroup} required={required} />}
      <Helps field={field} />
      <FormContexts.Path.Provider value={place.path}>{children}</FormContexts.Path.Provider>
      <Note path={path} />
      <Errors id={place.id} errors={errors} />
    </div>
  );
}

/** A group of fields, or a list, under one name. */
export function GroupFrame(props: { field: DrawnField; isList?: boolean; children: ReactNode }): ReactElement {
  const { field, isList = false, children } = props;
  const { place, label, required, isBare } = field;
  const path = dotted(place.path);
  const errors = useErrors(path);
  if (isBare === true || path === "") return <div className="fb-fields">{children}</div>;
  return (
    <fieldset
      className="fb-group"
      data-path={path}
      data-list={isList ? JSON.stringify(place.path) : undefined}
      aria-describedby={describedBy(field, errors)}
    >
      <legend className="fb-legend">
        {label}
        <Optional required={required} />
      </legend>
      <Helps field={field} />
      <div className="fb-fields">{children}</div>
      <Note path={path} />
      <Errors id={place.id} errors={errors} />
    </fieldset>
  );
}

function Helps({ field }: { field: DrawnField }): ReactElement {
  const { hint, place } = field;
  const description = descriptionOf(field);
  return (
    <>
      {description !== undefined && (
        <p className="fb-help" id={descriptionIdOf(place.id)}>
          {description}
        </p>
      )}
      {hint.help !== undefined && (
        <p className="fb-help" id={helpIdOf(place.id)}>
          {hint.help}
        </p>
      )}
    </>
  );
}

function Errors({ id, errors }: { id: string; errors: readonly string[] }): ReactElement | null {
  if (errors.length === 0) return null;
  return (
    <ul className="fb-errors" id={errorIdOf(id)}>
      {errors.map((error) => (
        <li key={error}>{error}</li>
      ))}
    </ul>
  );
}

/** Redrawn when there is something new to show about the field. */
const Note = ({ path }: { path: string }): ReactElement => <>{useContext(FormContexts.Note)?.(path)}</>;

function Optional({ required }: { required: boolean }): ReactElement | null {
  const { t } = useFormContext();
  return required ? null : <span className="fb-optional"> ({t("form.optional")})</span>;
}

interface LabelProps {
  id: string;
  label: string;
  isGroup: boolean;
  required: boolean;
}

function Label({ id, label, isGroup, required }: LabelProps): ReactElement {
  const text = (
    <>
      {label}
      <Optional required={required} />
    </>
  );
  const labelId = `${id}__label`;
  if (isGroup) {
    return (
      <span className="fb-label" id={labelId}>
        {text}
      </span>
    );
  }
  return (
    <label className="fb-label" id={labelId} htmlFor={id}>
      {text}
    </label>
  );
}
