import type { FieldHint } from "@formbridge/contract";
import { memo, type ReactElement, useMemo, useState } from "react";
import { isEqual } from "../../engine/changes.ts";
import { type Drawing, drawingOf } from "../../engine/drawing.ts";
import { dotted, hintFor, labelFrom } from "../../engine/hints.ts";
import type { JsonSchema } from "../../engine/prepare-schema.ts";
import { isCircular, withoutMark } from "../../engine/resolver.ts";
import { type Place, useFormContext } from "../../form-context.ts";
import { Frame, GroupFrame } from "../frame.tsx";
import { ControlField } from "./control-field.tsx";
import { FileField } from "./file-field.tsx";
import { GroupField } from "./group-field.tsx";
import { ListField } from "./list-field.tsx";
import { VariantsField } from "./variants-field.tsx";

/** Called with a new value and where it belongs: the field's own path, or one inside it. */
export type OnChange = (value: unknown, path: Place["path"]) => void;

export interface FieldProps {
  /** As written in its parent: references and conditions are not resolved yet. */
  schema: JsonSchema;
  value: unknown;
  place: Place;
  /** The label of a field without a title. */
  name: string;
  required: boolean;
  /** Must stay the same function while the field is drawn. */
  onChange: OnChange;
  /** Drawn inside another field's frame. */
  isBare?: boolean;
}

/** What a field knows about itself once its schema is resolved. */
export interface DrawnField extends FieldProps {
  label: string;
  hint: FieldHint;
  isOff: boolean;
}

/** One field of the form, of whatever kind. Redrawn when its own value has changed, not when a neighbour's has. */
export const Field = memo(AnyField, (one, other) => {
  const { place, value, ...rest } = one;
  const { place: otherPlace, value: otherValue, ...others } = other;
  const isSamePlace = place.id === otherPlace.id && isEqual(place.path, otherPlace.path);
  const names = Object.keys({ ...rest, ...others }) as (keyof typeof rest)[];
  return isSamePlace && names.every((name) => rest[name] === others[name]) && isEqual(value, otherValue);
});

function AnyField(props: FieldProps): ReactElement | null {
  const { schema: given, value, place, name } = props;
  const { resolve, hints, readOnly, t } = useFormContext();
  const [isAsked, setAsked] = useState(false);
  const isFolded = isCircular(given) && value === undefined && !isAsked;
  const schema = useMemo(
    () => (isFolded ? given : resolve(withoutMark(given), value)),
    [resolve, given, value, isFolded],
  );
  const hint = hintFor(hints, place.path);
  const drawing = useMemo(() => drawingOf(schema, hint), [schema, hint]);
  const label = hint.label ?? String(schema.title ?? labelFrom(name));
  if (isFolded) {
    return readOnly ? null : (
      <button type="button" className="fb-button" data-open={dotted(place.path)} onClick={() => setAsked(true)}>
        {t("form.addTo", { label })}
      </button>
    );
  }
  const isOff = readOnly || schema.readOnly === true;
  return draw({ ...props, schema, label, hint, isOff }, drawing);
}

function draw(field: DrawnField, drawing: Drawing): ReactElement | null {
  const { place, isBare } = field;
  const path = dotted(place.path);
  switch (drawing.kind) {
    case "nothing":
      return null;
    case "control":
      return <ControlField field={field} control={drawing.control} choices={drawing.choices} />;
    case "file":
      return (
        <Frame field={field} isGroup={false}>
          <FileField field={field} />
        </Frame>
      );
    case "list":
      return (
        <GroupFrame field={field} isList>
          <ListField field={field} />
        </GroupFrame>
      );
    case "variants":
      return (
        <GroupFrame field={field}>
          {field.schema.type === "object" && <GroupField field={field} />}
          <VariantsField field={field} />
        </GroupFrame>
      );
    case "group":
      if (path === "" || isBare === true) return <GroupField field={field} />;
      return (
        <GroupFrame field={field}>
          <GroupField field={field} />
        </GroupFrame>
      );
  }
}
