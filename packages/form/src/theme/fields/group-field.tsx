import { type ReactElement, useMemo } from "react";
import { isObject } from "../../engine/changes.ts";
import { inOrder, isInStep } from "../../engine/hints.ts";
import type { JsonSchema } from "../../engine/prepare-schema.ts";
import { isEntry } from "../../engine/resolver.ts";
import { useFormContext } from "../../form-context.ts";
import { EntriesField } from "./entries-field.tsx";
import { type DrawnField, Field } from "./field.tsx";
import { placeIn } from "./places.ts";

/** The fields of an object: declared properties, and entries that people may add. */
export function GroupField({ field }: { field: DrawnField }): ReactElement {
  const { schema, value, place, onChange } = field;
  const { hints, step } = useFormContext();
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const names = Object.keys(properties);
  const declared = names.filter((name) => !isEntry(properties[name] ?? {}));
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const shown = inOrder(declared, hints, place.path).filter((name) => isInStep(step, [...place.path, name]));
  const values = isObject(value) ? value : {};
  const entrySchema = entrySchemaOf(schema);
  return (
    <div className="fb-fields">
      {shown.map((name) => (
        <Member
          key={name}
          field={field}
          name={name}
          schema={properties[name] ?? {}}
          value={Object.hasOwn(values, name) ? values[name] : undefined}
          required={required.has(name)}
        />
      ))}
      {entrySchema !== undefined && (
        <EntriesField
          field={field}
          values={values}
          names={names.filter((name) => isEntry(properties[name] ?? {}))}
          schemaOf={(name) => properties[name] ?? entrySchema}
          onChange={onChange}
        />
      )}
    </div>
  );
}

interface MemberProps {
  field: DrawnField;
  name: string;
  schema: JsonSchema;
  value: unknown;
  required: boolean;
}

function Member({ field, name, schema, value, required }: MemberProps): ReactElement {
  const { place, onChange } = field;
  const inner = useMemo(() => placeIn(place, name), [place, name]);
  return <Field schema={schema} value={value} place={inner} name={name} required={required} onChange={onChange} />;
}

/** The schema of added entries; undefined if the schema doesn't allow any. */
function entrySchemaOf({ additionalProperties, patternProperties, properties }: JsonSchema): JsonSchema | undefined {
  if (isObject(additionalProperties)) return additionalProperties;
  const [byPattern] = Object.values((patternProperties ?? {}) as Record<string, JsonSchema>);
  if (isObject(byPattern)) return byPattern;
  const hasNames = Object.values((properties ?? {}) as Record<string, JsonSchema>).some((each) => !isEntry(each));
  return additionalProperties === true && !hasNames ? ANY_ENTRY : undefined;
}

const ANY_ENTRY: JsonSchema = { type: "string", "x-anything": true };
