import type { GetSubmissionIntakeResponse } from "@formbridge/contract";
import { toIso } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { openNote } from "./links/handoff-links.ts";
import { presentationOf } from "./read/intake-view.ts";
import { markOf, type OperationResponse, respondWith, show } from "./read/response.ts";
import { type Readable, type ReadCall, runRead } from "./read/run-read.ts";

/** How to render a submission: what its intake shows people, from the definition it was created with. */
export async function getSubmissionIntake(
  context: Context,
  call: ReadCall,
): Promise<OperationResponse<GetSubmissionIntakeResponse>> {
  return await runRead(context, call, { operation: "getSubmissionIntake", use: (found) => drawn(context, found) });
}

function drawn(context: Context, found: Readable): OperationResponse<GetSubmissionIntakeResponse> {
  const { intake } = found;
  const shown = show(context.deps, found, found.held);
  const body: GetSubmissionIntakeResponse = {
    ...markOf(shown),
    intake: presentationOf(intake.definition),
    ...(context.deps.mailer && { sendsMail: true }),
    ...(found.session && { session: sessionOf(context, found.session) }),
  };
  return respondWith(body, shown);
}

function sessionOf({ deps }: Context, { handoff, session }: NonNullable<Readable["session"]>) {
  const { message } = openNote(deps.sealer, handoff);
  return {
    handoffId: handoff.handoffId,
    actor: session.actor,
    expiresAt: toIso(session.expiresAt),
    ...(message !== undefined && { from: handoff.createdBy, message }),
  };
}
