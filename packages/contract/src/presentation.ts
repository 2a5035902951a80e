import Type, { type Static } from "typebox";
import { closedObject } from "./closed-object.ts";

export const FieldHintSchema = closedObject({
  label: Type.Optional(Type.String({ description: "Instead of the schema's title." })),
  description: Type.Optional(Type.String({ description: "Instead of the schema's description." })),
  help: Type.Optional(Type.String({ description: "Shown in addition to the description." })),
  options: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: "Labels of the choices of an enum, by value." }),
  ),
  placeholder: Type.Optional(Type.String()),
  widget: Type.Optional(Type.String()),
  example: Type.Optional(Type.Unknown()),
  order: Type.Optional(Type.Number()),
});
export type FieldHint = Static<typeof FieldHintSchema>;

const fieldHints = Type.Record(Type.String(), FieldHintSchema, { description: "By field path, nested ones too." });

export const UiHintsSchema = closedObject({
  steps: Type.Optional(
    Type.Array(
      closedObject({
        id: Type.String(),
        title: Type.String(),
        description: Type.Optional(Type.String()),
        fields: Type.Array(Type.String(), { description: "Field paths, such as `address.city`." }),
      }),
    ),
  ),
  fieldHints: Type.Optional(fieldHints),
});

/** What a form shows in one language. What is missing falls back to the definition. */
export const TranslationSchema = closedObject({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  description: Type.Optional(Type.String({ maxLength: 5000 })),
  fields: Type.Optional(fieldHints),
  steps: Type.Optional(
    Type.Record(
      Type.String(),
      closedObject({ title: Type.Optional(Type.String()), description: Type.Optional(Type.String()) }),
      { description: "By the id of the step." },
    ),
  ),
});
export type Translation = Static<typeof TranslationSchema>;

/** The maximum length of a logo in characters: a small image as a data URL, or a path. */
export const MAX_LOGO = 131_072;

export const BrandingSchema = closedObject({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  logo: Type.Optional(
    Type.String({
      maxLength: MAX_LOGO,
      description: "A data: URL of an image, or a path on this server.",
    }),
  ),
  color: Type.Optional(Type.String({ description: "A CSS hex color.", examples: ["#0a7d5a"] })),
});
