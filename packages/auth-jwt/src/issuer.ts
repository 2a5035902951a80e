import { ROLES } from "@formbridge/contract";
import Type, { type Static } from "typebox";

/** Signatures that only the issuer can make. With a shared secret, whoever can check a token could make one. */
export const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

const exact = { additionalProperties: false } as const;
const Text = Type.String({ minLength: 1, maxLength: 2000 });
/** A claim by its name; one within others by a dot-path, unless a claim has that very name. */
const Claim = Type.String({ minLength: 1, maxLength: 200 });
const Tenant = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" });
const Roles = Type.Array(Type.Enum([...ROLES]), { minItems: 1, uniqueItems: true });
const Kind = Type.Enum(["agent", "human"]);

const ActorSettings = Type.Object(
  {
    /** Names the actor; `sub` when absent. */
    claim: Type.Optional(Claim),
    /** Stands before the claim in the actor's id; the issuer's name and a colon when absent. */
    prefix: Type.Optional(Type.String({ maxLength: 64 })),
    /** By a claim's values; a token with none of them is refused, unless `otherwise` says what it is. */
    kind: Type.Union([
      Kind,
      Type.Object({ claim: Claim, map: Type.Record(Type.String(), Kind), otherwise: Type.Optional(Kind) }, exact),
    ]),
    /** Claims that are recorded with the actor. */
    name: Type.Optional(Claim),
    email: Type.Optional(Claim),
  },
  exact,
);

/** An issuer that the operator trusts: where its keys are, and what its tokens may say here. */
export const Issuer = Type.Object(
  {
    name: Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,31}$" }),
    issuer: Text,
    audience: Type.Union([Text, Type.Array(Text, { minItems: 1 })]),
    jwksUri: Type.Optional(Text),
    jwksFile: Type.Optional(Text),
    algorithms: Type.Optional(Type.Array(Type.Enum([...ALGORITHMS]), { minItems: 1, uniqueItems: true })),
    tenant: Type.Union([
      Tenant,
      Type.Object({ claim: Claim, allowed: Type.Optional(Type.Array(Tenant, { minItems: 1 })) }, exact),
    ]),
    roles: Type.Union([
      Roles,
      Type.Object(
        { claim: Claim, map: Type.Optional(Type.Record(Type.String(), Type.Enum([...ROLES]))), allowed: Roles },
        exact,
      ),
    ]),
    intakes: Type.Optional(Type.Union([Type.Array(Text, { minItems: 1 }), Type.Object({ claim: Claim }, exact)])),
    actor: ActorSettings,
  },
  exact,
);
export type Issuer = Static<typeof Issuer>;

/** What stands before every actor id that this issuer's tokens give. */
export const actorPrefix = ({ name, actor }: Issuer): string => actor.prefix ?? `${name}:`;
