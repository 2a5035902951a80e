import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { InstantSchema } from "../states.ts";
import { pageEnd, paging } from "./lists.ts";

export const ROLES = ["admin", "agent", "reviewer", "viewer"] as const;
export type Role = (typeof ROLES)[number];

const keyGrant = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  intakes: Type.Optional(Type.Array(Type.String(), { description: "Limits the key to these intakes." })),
  actsFor: Type.Optional(Type.Array(Type.String(), { description: 'Actor ids it may name; "*" for any.' })),
  expiresAt: Type.Optional(InstantSchema),
};

export const CreateKeyRequest = Type.Object(
  {
    ...keyGrant,
    roles: Type.Array(Type.Enum([...ROLES]), { minItems: 1, uniqueItems: true }),
    actor: ActorInputSchema,
    tenant: Type.Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" })),
  },
  {
    additionalProperties: false,
    examples: [{ name: "Support bot", roles: ["agent"], actor: { kind: "agent", id: "support_bot" } }],
  },
);
export type CreateKeyRequest = Static<typeof CreateKeyRequest>;

export const CreateKeyResponse = Type.Object(
  { ok: Type.Literal(true), keyId: Type.String(), key: Type.String({ description: "Shown only once." }) },
  { additionalProperties: false },
);
export type CreateKeyResponse = Static<typeof CreateKeyResponse>;

export const ListKeysQuery = Type.Object(paging, { additionalProperties: false });
export type ListKeysQuery = Static<typeof ListKeysQuery>;

export const ListKeysResponse = Type.Object(
  {
    ok: Type.Literal(true),
    items: Type.Array(
      Type.Object(
        {
          keyId: Type.String(),
          tenant: Type.String(),
          roles: Type.Array(Type.Enum([...ROLES])),
          actor: ActorSchema,
          createdAt: InstantSchema,
          ...keyGrant,
        },
        { additionalProperties: false },
      ),
    ),
    ...pageEnd,
  },
  { additionalProperties: false },
);
export type ListKeysResponse = Static<typeof ListKeysResponse>;

export const RevokeKeyResponse = Type.Object(
  { ok: Type.Literal(true), keyId: Type.String(), revoked: Type.Literal(true) },
  { additionalProperties: false },
);
export type RevokeKeyResponse = Static<typeof RevokeKeyResponse>;
