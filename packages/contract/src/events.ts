import Type, { type Static } from "typebox";
import { EventActorSchema } from "./actor.ts";
import { closedObject } from "./closed-object.ts";
import { InstantSchema, JsonObjectSchema, SubmissionStateSchema } from "./states.ts";

export const EVENT_STREAMS = ["submission", "token", "idempotency"] as const;
export type EventStream = (typeof EVENT_STREAMS)[number];

/** Every event type, with its stream and when it is written. */
export const EVENT_TYPES = {
  "submission.created": { stream: "submission", when: "a submission is created" },
  "field.updated": { stream: "submission", when: "fields are set, changed or removed" },
  "validation.passed": { stream: "submission", when: "a validation finds nothing wrong" },
  "validation.failed": { stream: "submission", when: "a validation or a submit finds problems" },
  "upload.requested": { stream: "submission", when: "an upload is announced" },
  "upload.completed": { stream: "submission", when: "an upload is confirmed" },
  "upload.failed": {
    stream: "submission",
    when: "an upload doesn't match what was announced, or a scan finds something",
  },
  "upload.abandoned": {
    stream: "submission",
    when: "a pending upload is abandoned, or superseded by a newer one",
  },
  "upload.collected": { stream: "submission", when: "a file that is no longer needed is removed" },
  "submission.submitted": { stream: "submission", when: "a submit succeeds" },
  "review.requested": { stream: "submission", when: "a gate starts waiting for reviewers" },
  "review.approved": { stream: "submission", when: "a reviewer approves, or a gate approves automatically" },
  "review.rejected": { stream: "submission", when: "a reviewer rejects" },
  "review.reassigned": { stream: "submission", when: "an admin names other reviewers for a waiting gate" },
  "review.escalated": { stream: "submission", when: "a gate has waited too long" },
  "delivery.attempted": { stream: "submission", when: "a delivery attempt starts" },
  "delivery.succeeded": { stream: "submission", when: "the destination accepts the submission" },
  "delivery.failed": { stream: "submission", when: "a delivery attempt fails" },
  "delivery.restarted": { stream: "submission", when: "somebody restarts a delivery" },
  "destination.changed": { stream: "submission", when: "an admin sends the submission elsewhere" },
  "submission.finalized": { stream: "submission", when: "the submission is delivered or stored for good" },
  "submission.cancelled": { stream: "submission", when: "the submission is cancelled" },
  "submission.expired": { stream: "submission", when: "the submission expires" },
  "submission.erased": { stream: "submission", when: "the values and names of an ended submission are erased" },
  "submission.redacted": {
    stream: "submission",
    when: "an actor is erased who took part in an ended submission of somebody else",
  },
  "submission.ttl_warning": { stream: "submission", when: "80 % of the submission's time has passed" },
  "submission.replayed": { stream: "submission", when: "a retry gets the recorded response" },
  "handoff.link_issued": { stream: "submission", when: "a link for a human is created" },
  "handoff.completed": { stream: "submission", when: "the human says that their part is done, or submits" },
  "handoff.resumed": { stream: "submission", when: "an agent acts again after a human" },
  "security.incident": { stream: "submission", when: "an alarm about the submission trips" },
  "token.created": { stream: "token", when: "the first token is issued, or a token is reissued" },
  "token.accessed": { stream: "token", when: "a token is used to read, or is refused" },
  "token.updated": { stream: "token", when: "a token is used to write, and is rotated" },
  "token.conflict": { stream: "token", when: "a stale token is refused" },
  "token.expired": { stream: "token", when: "a token lapses, is revoked, or ends with its submission" },
  "token.submitted": { stream: "token", when: "a token is used to submit" },
  "token.cancelled": { stream: "token", when: "a token is used to cancel" },
  "token.handed_off": { stream: "token", when: "a human acts or reads after an agent, or an agent after a human" },
  "idempotency.key.created": { stream: "idempotency", when: "a response is recorded under a key" },
  "idempotency.replay": { stream: "idempotency", when: "a recorded response is returned again" },
  "idempotency.conflict": { stream: "idempotency", when: "a key is used for a different request" },
  "idempotency.key.expired": { stream: "idempotency", when: "a recorded response is deleted" },
  "idempotency.lock.contention": { stream: "idempotency", when: "a request had to wait for another one with its key" },
} as const satisfies Record<string, { stream: EventStream; when: string }>;
export type EventType = keyof typeof EVENT_TYPES;

const HashSchema = Type.String({ pattern: "^[0-9a-f]{64}$" });
const SaltSchema = Type.Union([Type.String(), Type.Null()], { description: "null once the value was erased" });

const EventProofSchema = Type.Object({
  actorSalt: SaltSchema,
  actorDigest: HashSchema,
  payloadSalt: SaltSchema,
  payloadDigest: HashSchema,
});
export type EventProof = Static<typeof EventProofSchema>;

/** One event of the history. `hash` covers the envelope, the digests of actor and payload, and `prevHash`. */
export const IntakeEventSchema = closedObject({
  eventId: Type.String(),
  seq: Type.Integer({ minimum: 1, description: "Without a gap per submission and stream." }),
  stream: Type.Enum([...EVENT_STREAMS]),
  type: Type.Enum(Object.keys(EVENT_TYPES) as EventType[]),
  submissionId: Type.String(),
  ts: InstantSchema,
  actor: Type.Union([EventActorSchema, Type.Null()], { description: "null once it was erased" }),
  state: SubmissionStateSchema,
  version: Type.Integer(),
  payload: Type.Optional(Type.Union([JsonObjectSchema, Type.Null()])),
  prevHash: HashSchema,
  hash: HashSchema,
  proof: Type.Optional(EventProofSchema),
});
export type IntakeEvent = Static<typeof IntakeEventSchema>;
