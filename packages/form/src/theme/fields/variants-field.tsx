import { type ReactElement, useMemo, useState } from "react";
import { isObject } from "../../engine/changes.ts";
import { labelFrom } from "../../engine/hints.ts";
import { type JsonSchema, withType } from "../../engine/prepare-schema.ts";
import {
  contradicts,
  type Variants,
  valueFor,
  variantOf,
  variantsOf,
  withoutConstants,
} from "../../engine/variants.ts";
import { type FormContext, useFormContext } from "../../form-context.ts";
import type { FormTextId } from "../../texts.ts";
import { RadioControl, SelectControl } from "../controls/choices.tsx";
import { type DrawnField, Field } from "./field.tsx";

/** One of several kinds: which one, and then its fields. Nothing is stored before somebody has chosen or typed. */
export function VariantsField({ field }: { field: DrawnField }): ReactElement {
  const { schema, value, place, label, required, isOff, onChange } = field;
  const { t, resolve, fits } = useFormContext();
  const options = (schema.oneOf ?? schema.anyOf) as unknown[];
  const variants = useMemo(
    () => variantsOf(options.map((option) => typed(resolve(isObject(option) ? option : {}, value), schema))),
    [options, resolve, value, schema],
  );
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const isStill = chosen !== undefined && !contradicts(variants, chosen, value);
  const current = isStill ? chosen : variantOf(variants, value, fits);
  const inner = useMemo(
    () => (current === undefined ? undefined : withoutConstants(variants, current)),
    [variants, current],
  );
  const names = variants.schemas.map((_, index) => nameOf(variants, index, t));
  const isShort = names.length <= 4;
  const Selector = isShort ? RadioControl : SelectControl;
  const id = `${place.id}__kind`;
  const question = t("form.variant", { label });

  function choose(index: unknown): void {
    const next = typeof index === "number" ? index : undefined;
    setChosen(next);
    onChange(valueFor(variants, next, value), place.path);
  }

  return (
    <div className="fb-variants">
      <div className="fb-field">
        {isShort ? (
          <span className="fb-label" id={`${id}__label`}>
            {question}
          </span>
        ) : (
          <label className="fb-label" id={`${id}__label`} htmlFor={id}>
            {question}
          </label>
        )}
        <Selector
          id={id}
          label={question}
          schema={schema}
          value={current}
          choices={names.map((each, index) => ({ value: index, label: each }))}
          placeholder={undefined}
          required={required}
          disabled={isOff}
          isInvalid={false}
          describedBy={undefined}
          onChange={choose}
        />
      </div>
      {inner !== undefined && (
        <Field
          key={current}
          schema={inner}
          value={value}
          place={place}
          name={names[current ?? 0] ?? ""}
          required={required}
          onChange={onChange}
          isBare
        />
      )}
    </div>
  );
}

/** A variant that says nothing of its type has the one of the field. */
const typed = (variant: JsonSchema, { type }: JsonSchema): JsonSchema =>
  variant.type !== undefined || type === undefined ? withType(variant) : { ...variant, type };

const NAME_OF_TYPE: Readonly<Record<string, FormTextId>> = {
  string: "form.kindText",
  number: "form.kindNumber",
  integer: "form.kindNumber",
  boolean: "form.kindYesNo",
  array: "form.kindList",
  object: "form.kindGroup",
};

function nameOf({ schemas, constants }: Variants, index: number, t: FormContext["t"]): string {
  const variant = schemas[index] ?? {};
  if (typeof variant.title === "string") return variant.title;
  const [constant] = Object.values(constants[index] ?? {});
  if (typeof constant === "string") return labelFrom(constant);
  const isPlain = typeof variant.type === "string" && variant.type !== "object";
  const byType = isPlain ? NAME_OF_TYPE[variant.type as string] : undefined;
  return byType === undefined ? t("form.kind", { number: index + 1 }) : t(byType);
}
