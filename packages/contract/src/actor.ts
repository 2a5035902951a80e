import Type, { type Static } from "typebox";
import { closedObject } from "./closed-object.ts";
import { JsonObjectSchema } from "./states.ts";

const actorBase = {
  id: Type.String({ minLength: 1, maxLength: 200, examples: ["onboarding_bot"] }),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  metadata: Type.Optional(JsonObjectSchema),
};

/** How a human was identified. */
const PROOFS = ["link", "code", "key", "oidc"] as const;
export type Proof = (typeof PROOFS)[number];

/** As callers send it. `type` is an older spelling of `kind`; `system` is never accepted from outside. */
export const ActorInputSchema = closedObject(
  {
    kind: Type.Optional(Type.Enum(["agent", "human"])),
    type: Type.Optional(Type.Enum(["agent", "human"], { deprecated: true, description: "Older spelling of kind." })),
    ...actorBase,
  },
  { description: "Who is acting. With an API key, the key's own actor is recorded." },
);
export type ActorInput = Static<typeof ActorInputSchema>;

export const ActorSchema = closedObject({
  kind: Type.Enum(["agent", "human", "system"]),
  ...actorBase,
  declared: Type.Optional(Type.Literal(true, { description: "Declared: the actor only named itself." })),
  proof: Type.Optional(
    Type.Enum([...PROOFS], {
      description: "Of a human: an opened link, a code from a mail, an API key, or a JWT of a trusted issuer.",
    }),
  ),
});
export type Actor = Static<typeof ActorSchema>;

/** Who an event is about. A reader with only a token may be anyone: `unknown`, which no caller can send. */
export const EventActorSchema = closedObject({
  ...ActorSchema.properties,
  kind: Type.Enum(["agent", "human", "system", "unknown"]),
});
export type EventActor = Static<typeof EventActorSchema>;
