import type { Actor, IntakeDefinition, Role } from "@formbridge/contract";
import { type ApiKey, sha256 } from "@formbridge/core";

/** A caller: with a key, without one, or with an invalid one. */
export interface Player {
  name: string;
  apiKey?: string;
  known: boolean;
  tenant: string;
  roles: readonly Role[];
  actor: Actor;
  /** Comes through a hand-off, which identifies them. */
  visits?: true;
}

/** How the player is recorded: without proof, as declared. */
export const actorOf = ({ apiKey, actor, visits }: Player): Actor =>
  apiKey === undefined && visits !== true ? { ...actor, declared: true } : actor;

const TENANT = "default";

const player = (name: string, kind: "agent" | "human", roles: Role[], tenant = TENANT): Player => ({
  name,
  apiKey: `fbk_${name}`,
  known: true,
  tenant,
  roles,
  actor: { kind, id: name },
});

export const ANONYMOUS: Player = {
  name: "anonymous",
  known: true,
  tenant: "",
  roles: [],
  actor: { kind: "agent", id: "anonymous" },
};
export const VISITOR: Player = {
  name: "visitor",
  known: true,
  tenant: "",
  roles: [],
  actor: { kind: "human", id: "visitor" },
  visits: true,
};
export const COURIER: Player = {
  name: "courier",
  known: true,
  tenant: TENANT,
  roles: [],
  actor: { kind: "system", id: "delivery" },
};

export const PLAYERS: readonly Player[] = [
  ANONYMOUS,
  ANONYMOUS,
  player("agent-a", "agent", ["agent"]),
  player("agent-a", "agent", ["agent"]),
  player("agent-b", "agent", ["agent"]),
  player("human-h", "human", ["agent"]),
  player("reviewer-r", "human", ["reviewer"]),
  player("reviewer-s", "human", ["reviewer"]),
  player("viewer-v", "human", ["viewer"]),
  player("admin", "human", ["admin"]),
  player("stranger", "agent", ["agent"], "elsewhere"),
  { ...player("ghost", "agent", ["agent"]), known: false },
];

export const apiKeys = (): ApiKey[] => {
  const keyed = PLAYERS.filter(({ apiKey, known }) => apiKey !== undefined && known);
  const distinct = new Map(keyed.map((one) => [one.name, one]));
  return [...distinct.values()].map(({ name, apiKey = "", tenant, roles, actor }) => ({
    keyId: `key_${name}`,
    hash: sha256(apiKey),
    tenant,
    name,
    roles: [...roles],
    actor,
    createdAt: 0,
  }));
};

const properties = {
  a: { type: "string", maxLength: 20 },
  n: { type: "integer" },
  addr: {
    type: "object",
    additionalProperties: false,
    properties: { city: { type: "string" }, zip: { type: "string" } },
  },
  secret: { type: "string", "x-sensitive": true },
  sign: { type: "string", "x-fill": "human" },
  doc: { type: "object", "x-file": { accept: ["image/png"], maxBytes: 1000 } },
};

const intake = (id: string, required: string[], rest: Partial<IntakeDefinition>): IntakeDefinition => ({
  id,
  version: "1",
  name: id,
  schema: { type: "object", additionalProperties: false, properties, required },
  destination: { kind: "store" },
  ...rest,
});

const webhook = { kind: "webhook", url: "http://127.0.0.1:9/" } as const;

/** Small on purpose: the lifecycle of a submission is tested, not its schema. */
export const INTAKES = {
  plain: intake("plain", ["a"], { access: "public" }),
  gated: intake("gated", ["a", "n"], {
    destination: webhook,
    approvalGates: [
      { name: "two", reviewers: { roles: ["reviewer", "admin"] }, requiredApprovals: 2 },
      { name: "small", reviewers: { roles: ["reviewer", "admin"] }, autoApproveIf: { "<": [{ var: "fields.n" }, 10] } },
    ],
  }),
  hush: intake("hush", ["secret"], {
    access: "public",
    ttlMs: 2 * 3_600_000,
    destination: webhook,
    tokens: { discloseCurrent: false },
  }),
} as const satisfies Record<string, IntakeDefinition>;

export type IntakeName = keyof typeof INTAKES;
export const INTAKE_NAMES = Object.keys(INTAKES) as IntakeName[];
