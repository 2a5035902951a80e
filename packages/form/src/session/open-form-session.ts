import type { Submission } from "@formbridge/client";
import type { GetSubmissionIntakeResponse } from "@formbridge/contract";
import { FormSession } from "./form-session.ts";
import type { FormSessionOptions } from "./form-state.ts";
import { sensitivityOf } from "./sensitive.ts";

export interface OpenedForm {
  session: FormSession;
  intake: GetSubmissionIntakeResponse["intake"];
  /** The hand-off that this person works in, if it is one. */
  handoff?: GetSubmissionIntakeResponse["session"];
  /** The server can mail links. */
  sendsMail: boolean;
}

/** Reads a submission and its intake, and starts to follow it. Sensitive answers are kept out of `storage`. */
export async function openFormSession(
  submission: Submission,
  options: Pick<FormSessionOptions, "storage"> = {},
): Promise<OpenedForm> {
  const [answer, record] = await Promise.all([submission.intake(), submission.read()]);
  const { intake, session: handoff, sendsMail = false } = answer;
  const isSensitive = sensitivityOf(intake.schema);
  const session = await FormSession.open({ ...options, submission, isSensitive }, record);
  return { session, intake, sendsMail, ...(handoff && { handoff }) };
}
