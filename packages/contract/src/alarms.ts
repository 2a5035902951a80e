import Type, { type Static } from "typebox";
import { closedObject } from "./closed-object.ts";

/** Every alarm: what it is about, and what trips it. */
export const ALARMS = {
  token_shared: { about: "submission", when: "one resume token is used from too many addresses" },
  token_enumeration: { about: "address", when: "one address uses the tokens of too many submissions" },
  failed_lookups: { about: "address", when: "one address presents too many unknown tokens" },
  expired_token_reused: { about: "submission", when: "one expired or revoked token is used again and again" },
  expired_tokens_probed: { about: "address", when: "one address uses several different expired tokens" },
  submission_conflicts: { about: "submission", when: "one submission has too many conflicts" },
  dormant_token: { about: "submission", when: "a token is used after a long time without any use" },
  country_changed: { about: "submission", when: "a token is used in another country than it was created in" },
  agent_after_handoff: { about: "submission", when: "an agent writes right after a human took over" },
} as const satisfies Record<string, { about: "submission" | "address"; when: string }>;
export type AlarmKind = keyof typeof ALARMS;
export const ALARM_KINDS = Object.keys(ALARMS) as AlarmKind[];

/** What the server does automatically about an incident, besides recording it and notifying the operator. */
export const ALARM_RESPONSES = ["revoke", "reissue", "block", "notify_creator"] as const;
export type AlarmResponse = (typeof ALARM_RESPONSES)[number];

const policy = (kind: AlarmKind) =>
  Type.Optional(
    Type.Union(
      [
        Type.Literal(false),
        closedObject({
          threshold: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 10_000, description: "More than this raises the alarm." }),
          ),
          windowMs: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 31_536_000_000 })),
          responses: Type.Optional(Type.Array(Type.Enum([...ALARM_RESPONSES]), { uniqueItems: true })),
        }),
      ],
      { description: `When ${ALARMS[kind].when}. false: never.` },
    ),
  );

/** Alarms about an address can't be an intake's: an address is not bound to one. */
export const AlarmPoliciesSchema = closedObject(
  {
    token_shared: policy("token_shared"),
    expired_token_reused: policy("expired_token_reused"),
    submission_conflicts: policy("submission_conflicts"),
    dormant_token: policy("dormant_token"),
    country_changed: policy("country_changed"),
    agent_after_handoff: policy("agent_after_handoff"),
  },
  { description: "Alarms of its submissions that differ from the server's settings." },
);
export type AlarmPolicies = Static<typeof AlarmPoliciesSchema>;
