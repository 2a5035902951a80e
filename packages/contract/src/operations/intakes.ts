import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { IntakeViewSchema } from "../intake.ts";
import { JsonObjectSchema } from "../states.ts";
import { pageOf, paging } from "./lists.ts";

export const IntakeResponse = closedObject({ ok: Type.Literal(true), intake: IntakeViewSchema });
export type IntakeResponse = Static<typeof IntakeResponse>;

export const ListIntakesQuery = closedObject({
  ...paging,
  language: Type.Optional(
    Type.String({
      maxLength: 100,
      description: "BCP 47: names and descriptions in this language, where the definition has them.",
      examples: ["de"],
    }),
  ),
});
export type ListIntakesQuery = Static<typeof ListIntakesQuery>;

export const ListIntakesResponse = pageOf(
  closedObject({
    id: Type.String(),
    version: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    access: Type.Enum(["key", "public"]),
    retired: Type.Boolean(),
    source: Type.Enum(["folder", "api"]),
  }),
);
export type ListIntakesResponse = Static<typeof ListIntakesResponse>;

export const IntakeSchemaResponse = closedObject({
  ok: Type.Literal(true),
  intakeId: Type.String(),
  version: Type.String(),
  schema: JsonObjectSchema,
});
export type IntakeSchemaResponse = Static<typeof IntakeSchemaResponse>;

export const RetireIntakeResponse = closedObject({
  ok: Type.Literal(true),
  intakeId: Type.String(),
  retired: Type.Literal(true),
});
export type RetireIntakeResponse = Static<typeof RetireIntakeResponse>;
