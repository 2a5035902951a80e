import Type from "typebox";
import { type Actor, ActorSchema } from "./actor.ts";
import { InstantSchema, JsonObjectSchema, type SubmissionState, SubmissionStateSchema } from "./states.ts";

export const EVENT_STREAMS = ["submission", "token", "idempotency"] as const;
export type EventStream = (typeof EVENT_STREAMS)[number];

/** Every event type, with the stream it lives in and the moment it is written. */
export const EVENT_TYPES = {
  "submission.created": { stream: "submission", when: "a submission is created" },
  "field.updated": { stream: "submission", when: "fields are set, changed or removed" },
  "validation.passed": { stream: "submission", when: "a validation finds nothing wrong" },
  "validation.failed": { stream: "submission", when: "a validation or a submit finds problems" },
  "upload.requested": { stream: "submission", when: "an upload is announced" },
  "upload.completed": { stream: "submission", when: "an upload is confirmed" },
  "upload.failed": { stream: "submission", when: "an upload does not match what was announced, or a scan refuses it" },
  "upload.collected": { stream: "submission", when: "a file that nobody needs any more is removed" },
  "submission.submitted": { stream: "submission", when: "a submit succeeds" },
  "review.requested": { stream: "submission", when: "a gate waits for reviewers" },
  "review.approved": { stream: "submission", when: "a reviewer approves, or a gate approves by itself" },
  "review.rejected": { stream: "submission", when: "a reviewer rejects" },
  "review.escalated": { stream: "submission", when: "a gate waited too long" },
  "delivery.attempted": { stream: "submission", when: "a delivery attempt starts" },
  "delivery.succeeded": { stream: "submission", when: "the destination took the submission" },
  "delivery.failed": { stream: "submission", when: "a delivery attempt fails" },
  "submission.finalized": { stream: "submission", when: "the submission reaches its good end" },
  "submission.cancelled": { stream: "submission", when: "somebody cancels" },
  "submission.expired": { stream: "submission", when: "the submission's time is over" },
  "submission.erased": { stream: "submission", when: "the values and names of an ended submission are erased" },
  "submission.ttl_warning": { stream: "submission", when: "80 % of the time has passed" },
  "submission.replayed": { stream: "submission", when: "a retry got the recorded answer" },
  "handoff.link_issued": { stream: "submission", when: "a link for a human is made" },
  "handoff.resumed": { stream: "submission", when: "an agent acts again after a human" },
  "token.created": { stream: "token", when: "the first token is issued, or one is issued anew" },
  "token.accessed": { stream: "token", when: "a token reads" },
  "token.updated": { stream: "token", when: "a token writes and is rotated" },
  "token.conflict": { stream: "token", when: "a stale token is refused" },
  "token.expired": { stream: "token", when: "a token ends with its submission or by revocation" },
  "token.submitted": { stream: "token", when: "a token submits" },
  "token.cancelled": { stream: "token", when: "a token cancels" },
  "token.handed_off": { stream: "token", when: "the kind of the actor changes" },
  "idempotency.key.created": { stream: "idempotency", when: "an answer is recorded under a key" },
  "idempotency.replay": { stream: "idempotency", when: "a recorded answer is given again" },
  "idempotency.conflict": { stream: "idempotency", when: "a key comes with another request" },
} as const satisfies Record<string, { stream: EventStream; when: string }>;
export type EventType = keyof typeof EVENT_TYPES;

export interface EventProof {
  actorSalt: string | null;
  actorDigest: string;
  payloadSalt: string | null;
  payloadDigest: string;
}

/** One line of the history. `hash` covers the envelope, the digests of actor and payload, and `prevHash`. */
export interface IntakeEvent {
  eventId: string;
  seq: number;
  stream: EventStream;
  type: EventType;
  submissionId: string;
  ts: string;
  actor: Actor | null;
  state: SubmissionState;
  version: number;
  payload?: Record<string, unknown> | null;
  prevHash: string;
  hash: string;
  proof?: EventProof;
}

const HashSchema = Type.String({ pattern: "^[0-9a-f]{64}$" });
const SaltSchema = Type.Union([Type.String(), Type.Null()], { description: "null once the value was erased" });

export const IntakeEventSchema = Type.Object(
  {
    eventId: Type.String(),
    seq: Type.Integer({ minimum: 1, description: "Without a gap per submission and stream." }),
    stream: Type.Enum([...EVENT_STREAMS]),
    type: Type.Enum(Object.keys(EVENT_TYPES)),
    submissionId: Type.String(),
    ts: InstantSchema,
    actor: Type.Union([ActorSchema, Type.Null()], { description: "null once it was erased" }),
    state: SubmissionStateSchema,
    version: Type.Integer(),
    payload: Type.Optional(Type.Union([JsonObjectSchema, Type.Null()])),
    prevHash: HashSchema,
    hash: HashSchema,
    proof: Type.Optional(
      Type.Object({
        actorSalt: SaltSchema,
        actorDigest: HashSchema,
        payloadSalt: SaltSchema,
        payloadDigest: HashSchema,
      }),
    ),
  },
  { additionalProperties: false },
);
