import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { InstantSchema } from "../states.ts";
import { pageOf, paging } from "./lists.ts";

export const ROLES = ["admin", "agent", "reviewer", "viewer"] as const;
export type Role = (typeof ROLES)[number];

const keyGrant = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  intakes: Type.Optional(Type.Array(Type.String(), { description: "Limits the key to these intakes." })),
  actsFor: Type.Optional(Type.Array(Type.String(), { description: 'Actor ids it may name; "*" for any.' })),
  expiresAt: Type.Optional(InstantSchema),
};

export const CreateKeyRequest = closedObject(
  {
    ...keyGrant,
    roles: Type.Array(Type.Enum([...ROLES]), { minItems: 1, uniqueItems: true }),
    actor: ActorInputSchema,
    tenant: Type.Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" })),
  },
  { examples: [{ name: "Support bot", roles: ["agent"], actor: { kind: "agent", id: "support_bot" } }] },
);
export type CreateKeyRequest = Static<typeof CreateKeyRequest>;

export const CreateKeyResponse = closedObject({
  ok: Type.Literal(true),
  keyId: Type.String(),
  key: Type.String({ description: "Shown only once." }),
});
export type CreateKeyResponse = Static<typeof CreateKeyResponse>;

export const ListKeysQuery = closedObject(paging);
export type ListKeysQuery = Static<typeof ListKeysQuery>;

export const ListKeysResponse = pageOf(
  closedObject({
    keyId: Type.String(),
    tenant: Type.String(),
    roles: Type.Array(Type.Enum([...ROLES])),
    actor: ActorSchema,
    createdAt: InstantSchema,
    ...keyGrant,
  }),
);
export type ListKeysResponse = Static<typeof ListKeysResponse>;

export const RevokeKeyResponse = closedObject({
  ok: Type.Literal(true),
  keyId: Type.String(),
  revoked: Type.Literal(true),
});
export type RevokeKeyResponse = Static<typeof RevokeKeyResponse>;
