import Type, { type Static } from "typebox";
import { IntakeViewSchema } from "../intake.ts";
import { JsonObjectSchema } from "../states.ts";
import { pageEnd, paging } from "./lists.ts";

export const IntakeResponse = Type.Object(
  { ok: Type.Literal(true), intake: IntakeViewSchema },
  { additionalProperties: false },
);
export type IntakeResponse = Static<typeof IntakeResponse>;

export const ListIntakesQuery = Type.Object(
  {
    ...paging,
    language: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "BCP 47: names and descriptions in this language, where the definition has them.",
        examples: ["de"],
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListIntakesQuery = Static<typeof ListIntakesQuery>;

export const ListIntakesResponse = Type.Object(
  {
    ok: Type.Literal(true),
    items: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          version: Type.String(),
          name: Type.String(),
          description: Type.Optional(Type.String()),
          access: Type.Enum(["key", "public"]),
          retired: Type.Boolean(),
          source: Type.Enum(["folder", "api"]),
        },
        { additionalProperties: false },
      ),
    ),
    ...pageEnd,
  },
  { additionalProperties: false },
);
export type ListIntakesResponse = Static<typeof ListIntakesResponse>;

export const IntakeSchemaResponse = Type.Object(
  { ok: Type.Literal(true), intakeId: Type.String(), version: Type.String(), schema: JsonObjectSchema },
  { additionalProperties: false },
);
export type IntakeSchemaResponse = Static<typeof IntakeSchemaResponse>;

export const RetireIntakeResponse = Type.Object(
  { ok: Type.Literal(true), intakeId: Type.String(), retired: Type.Literal(true) },
  { additionalProperties: false },
);
export type RetireIntakeResponse = Static<typeof RetireIntakeResponse>;
