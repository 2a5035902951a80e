import Type, { type Static } from "typebox";
import { type Actor, ActorSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { IntakeDefinitionSchema } from "../intake.ts";
import { InstantSchema } from "../states.ts";
import { submissionMark } from "../submission.ts";

const { id, version, name, description, schema, uiHints, translations, branding, humanProof } =
  IntakeDefinitionSchema.properties;

/** What an intake shows people. */
export const PresentationSchema = closedObject(
  { id, version, name, description, schema, uiHints, translations, branding, humanProof },
  { description: "As it was when the submission was created." },
);

/** What a form page needs to render a submission: its definition, and who is looking. */
export const GetSubmissionIntakeResponse = closedObject({
  ...submissionMark,
  intake: PresentationSchema,
  sendsMail: Type.Optional(
    Type.Literal(true, { description: "The server can mail links: a page may offer to send one." }),
  ),
  session: Type.Optional(
    closedObject(
      {
        handoffId: Type.String(),
        actor: ActorSchema,
        expiresAt: InstantSchema,
        message: Type.Optional(Type.String()),
        from: Type.Optional(Type.Unsafe<Actor>({ ...ActorSchema, description: "Who wrote the message." })),
      },
      { description: "For a caller in a hand-off session: whose it is." },
    ),
  ),
});
export type GetSubmissionIntakeResponse = Static<typeof GetSubmissionIntakeResponse>;
