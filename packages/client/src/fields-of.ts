/**
 * The type of the values that a JSON Schema describes, for a schema that is declared `as const`. Covers what intakes
 * commonly use; a keyword that it doesn't know makes the value `unknown`, never a wrong type.
 */
export type FieldsOf<Schema> = Schema extends { properties: infer Properties }
  ? Simplify<
      {
        -readonly [Name in keyof Properties as Name extends Required<Schema> ? Name : never]: ValueOf<Properties[Name]>;
      } & {
        -readonly [Name in keyof Properties as Name extends Required<Schema> ? never : Name]?: ValueOf<
          Properties[Name]
        >;
      }
    >
  : Record<string, unknown>;

type Required<Schema> = Schema extends { required: readonly (infer Name)[] } ? Name : never;
type Simplify<T> = { [Key in keyof T]: T[Key] };

/** A file is attached by the id of its upload, and read as a reference. */
export interface FileValue {
  uploadId: string;
  filename?: string;
  mimeType?: string;
  sizeBytes?: number;
  sha256?: string;
}

type ValueOf<Schema> = Schema extends { "x-file": unknown }
  ? FileValue
  : Schema extends { const: infer Value }
    ? Value
    : Schema extends { enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { anyOf: readonly (infer Branch)[] } | { oneOf: readonly (infer Branch)[] }
        ? Branch extends unknown
          ? ValueOf<Branch>
          : never
        : Schema extends { type: infer Type }
          ? OfType<Type, Schema>
          : unknown;

type OfType<Type, Schema> = Type extends readonly (infer Each)[]
  ? Each extends unknown
    ? OfType<Each, Schema>
    : never
  : Type extends "string"
    ? string
    : Type extends "number" | "integer"
      ? number
      : Type extends "boolean"
        ? boolean
        : Type extends "null"
          ? null
          : Type extends "array"
            ? Schema extends { items: infer Items }
              ? ValueOf<Items>[]
              : unknown[]
            : Type extends "object"
              ? FieldsOf<Schema>
              : unknown;
