import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { paging } from "./lists.ts";

export const EraseActorRequest = closedObject(
  {
    actor: closedObject({
      kind: Type.Optional(Type.Enum(["agent", "human"], { description: "Absent: both." })),
      id: Type.String({ minLength: 1, maxLength: 200 }),
    }),
    dryRun: Type.Optional(Type.Boolean({ description: "Counts what would be erased, and changes nothing." })),
    ...paging,
  },
  { examples: [{ actor: { kind: "human", id: "ada" }, dryRun: true }] },
);
export type EraseActorRequest = Static<typeof EraseActorRequest>;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const ids = (description: string) => Type.Array(Type.String(), { description });

/** What one call of an erasure did, or in a dry run would do. Names nobody. */
export const EraseActorReport = closedObject({
  scanned: count("Submissions and archived documents that were searched."),
  submissions: count("Submissions that the actor created: erased."),
  cancelled: count("How many of them had not ended, and were cancelled first."),
  redacted: count("Ended submissions of others that the actor took part in: they no longer name the actor."),
  events: count("Events of these that lost their actor or payload."),
  files: count("Files that the actor sent to these."),
  archives: count("Archived documents that were removed or no longer name the actor."),
  keys: count("API keys of the actor that were revoked."),
  waiting: ids(
    "Submissions that name the actor and have not ended, or whose delivery is running. Repeat the erasure later.",
  ),
  valuesKept: ids("Redacted submissions with values that the actor entered: they belong to the submission."),
  failed: ids("Submissions that could not be read or changed, or whose files could not be removed."),
  configured: closedObject(
    { keys: ids("API keys that may act for the actor."), intakes: ids("Intakes that name the actor as a reviewer.") },
    { description: "What still names the actor, for you to change." },
  ),
});
export type EraseActorReport = Static<typeof EraseActorReport>;

export const EraseActorResponse = closedObject({
  ok: Type.Literal(true),
  dryRun: Type.Boolean(),
  done: Type.Boolean({ description: "false: repeat the call with `nextPageToken`." }),
  report: EraseActorReport,
  nextPageToken: Type.Optional(Type.String()),
});
export type EraseActorResponse = Static<typeof EraseActorResponse>;
