import Type, { type Static } from "typebox";
import { JsonObjectSchema } from "./states.ts";

const actorBase = {
  id: Type.String({ minLength: 1, maxLength: 200, examples: ["onboarding_bot"] }),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  metadata: Type.Optional(JsonObjectSchema),
};

/** As callers send it. `type` is an older spelling of `kind`; `system` is never accepted from outside. */
export const ActorInputSchema = Type.Object(
  {
    kind: Type.Optional(Type.Enum(["agent", "human"])),
    type: Type.Optional(Type.Enum(["agent", "human"], { deprecated: true, description: "Older spelling of kind." })),
    ...actorBase,
  },
  { additionalProperties: false, description: "Who is acting. With an API key, the key's own actor is recorded." },
);
export type ActorInput = Static<typeof ActorInputSchema>;

export const ActorSchema = Type.Object(
  {
    kind: Type.Enum(["agent", "human", "system"]),
    ...actorBase,
    declared: Type.Optional(Type.Literal(true, { description: "The actor named itself; nothing proved it." })),
  },
  { additionalProperties: false },
);
export interface Actor {
  kind: "agent" | "human" | "system";
  id: string;
  name?: string;
  metadata?: Record<string, unknown>;
  declared?: true;
}
