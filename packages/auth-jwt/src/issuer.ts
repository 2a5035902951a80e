import { ROLES } from "@formbridge/contract";
import Type, { type Static } from "typebox";

/** Asymmetric signatures only. With a shared secret, anyone who can verify a token could also make one. */
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
/** A claim by name, or a nested one by dot-path unless a claim has exactly that name. */
const Claim = Type.String({ minLength: 1, maxLength: 200 });
const Tenant = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" });
const Roles = Type.Array(Type.Enum([...ROLES]), { minItems: 1, uniqueItems: true });
const Kind = Type.Enum(["agent", "human"]);

const ActorSettings = Type.Object(
  {
    /** The actor's id; defaults to `sub`. */
    claim: Type.Optional(Claim),
    /** Prefix of the actor's id; defaults to the issuer's name and a colon. */
    prefix: Type.Optional(Type.String({ maxLength: 64 })),
    /** Decided by a claim's value. A token with none of the listed values is refused unless `otherwise` is set. */
    kind: Type.Union([
      Kind,
      Type.Object({ claim: Claim, map: Type.Record(Type.String(), Kind), otherwise: Type.Optional(Kind) }, exact),
    ]),
    /** Claims recorded with the actor. */
    name: Type.Optional(Claim),
    email: Type.Optional(Claim),
  },
  exact,
);

/** An issuer that the operator trusts: where its keys are, and what its tokens grant. */
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

/** The prefix of every actor id from this issuer's tokens. */
export const actorPrefix = ({ name, actor }: Issuer): string => actor.prefix ?? `${name}:`;
