import Type, { type Static } from "typebox";
import { ActorSchema } from "../actor.ts";
import { ALARM_KINDS, ALARM_RESPONSES } from "../alarms.ts";
import { closedObject } from "../closed-object.ts";
import { InstantSchema } from "../states.ts";
import { pageOf, paging } from "./lists.ts";

export const INCIDENT_STATES = ["open", "acknowledged", "closed"] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

export const ListIncidentsQuery = closedObject({
  state: Type.Optional(Type.Enum([...INCIDENT_STATES])),
  kind: Type.Optional(Type.Enum([...ALARM_KINDS])),
  submissionId: Type.Optional(Type.String({ maxLength: 100 })),
  ...paging,
});
export type ListIncidentsQuery = Static<typeof ListIncidentsQuery>;

const handled = closedObject({ by: ActorSchema, at: InstantSchema });

export const IncidentSchema = closedObject({
  incidentId: Type.String({ examples: ["inc_01977d3e-8c00-7000-8000-000000000001"] }),
  kind: Type.Enum([...ALARM_KINDS]),
  state: Type.Enum([...INCIDENT_STATES]),
  submissionId: Type.Optional(Type.String()),
  intakeId: Type.Optional(Type.String()),
  tokenHash: Type.Optional(Type.String({ description: "SHA-256 of the token; never the token." })),
  address: Type.Optional(Type.String({ description: "The address, or the /64 network of an IPv6 address." })),
  count: Type.Integer({ description: "What had been counted when the alarm was raised." }),
  threshold: Type.Integer(),
  windowMs: Type.Integer(),
  raisedAt: InstantSchema,
  lastSeenAt: InstantSchema,
  responses: Type.Array(
    closedObject({
      response: Type.Enum([...ALARM_RESPONSES, "notify_operator"]),
      outcome: Type.Enum(["done", "nothing_to_do", "failed"]),
    }),
  ),
  acknowledged: Type.Optional(handled),
  closed: Type.Optional(handled),
  falsePositive: Type.Optional(Type.Boolean()),
  note: Type.Optional(Type.String()),
});
export type IncidentView = Static<typeof IncidentSchema>;

export const ListIncidentsResponse = pageOf(IncidentSchema);
export type ListIncidentsResponse = Static<typeof ListIncidentsResponse>;

export const AcknowledgeIncidentRequest = closedObject({ note: Type.Optional(Type.String({ maxLength: 2000 })) });
export const CloseIncidentRequest = closedObject(
  {
    note: Type.Optional(Type.String({ maxLength: 2000 })),
    falsePositive: Type.Optional(
      Type.Boolean({
        description: "true: undo what the server did: lift its blocks, issue a new token if it revoked them.",
      }),
    ),
  },
  { examples: [{ falsePositive: true, note: "Ada's phone and laptop" }] },
);
export type CloseIncidentRequest = Static<typeof CloseIncidentRequest>;

export const IncidentResponse = closedObject({
  ok: Type.Literal(true),
  incident: IncidentSchema,
  liftedBlocks: Type.Optional(Type.Integer()),
  reissued: Type.Optional(
    Type.Boolean({
      description: "true: the submission has a new token; read it by id with the key that created it.",
    }),
  ),
});
export type IncidentResponse = Static<typeof IncidentResponse>;

export const CreateBlockRequest = closedObject(
  {
    address: Type.String({ maxLength: 100, description: "An IP address; for IPv6, its /64 network is blocked." }),
    endsAt: InstantSchema,
    reason: Type.Optional(Type.String({ maxLength: 500 })),
  },
  { examples: [{ address: "203.0.113.7", endsAt: "2030-01-01T00:00:00.000Z" }] },
);
export type CreateBlockRequest = Static<typeof CreateBlockRequest>;

export const BlockSchema = closedObject({
  blockId: Type.String({ examples: ["blk_01977d3e-8c00-7000-8000-000000000001"] }),
  address: Type.String(),
  createdAt: InstantSchema,
  endsAt: InstantSchema,
  reason: Type.Optional(Type.String()),
  incidentId: Type.Optional(Type.String({ description: "The incident that caused it." })),
  createdBy: Type.Optional(ActorSchema),
});
export type BlockView = Static<typeof BlockSchema>;

export const CreateBlockResponse = closedObject({ ok: Type.Literal(true), block: BlockSchema });
export type CreateBlockResponse = Static<typeof CreateBlockResponse>;

export const ListBlocksQuery = closedObject(paging);
export const ListBlocksResponse = pageOf(BlockSchema);
export type ListBlocksResponse = Static<typeof ListBlocksResponse>;

export const RemoveBlockResponse = closedObject({
  ok: Type.Literal(true),
  blockId: Type.String(),
  removed: Type.Literal(true),
});
export type RemoveBlockResponse = Static<typeof RemoveBlockResponse>;
