import { type FormBridgeClient, FormBridgeError, type Submission } from "@formbridge/client";
import { type FormSession, type OpenedForm, openFormSession } from "@formbridge/form";
import type { ShownIntake } from "../shared/intake-texts.ts";
import type { Link } from "./link.ts";
import { editStorage } from "./storage.ts";

/** A `FormSession`, or one that begins with the first answer. */
export type EditingSession = Pick<FormSession, keyof FormSession>;

export interface Opened extends Omit<OpenedForm, "session"> {
  session: EditingSession;
}

/** One of several people that a link was made for. */
export interface Person {
  kind: "human";
  id: string;
  name?: string;
}

/** The people that a refusal names, when a link was made for several and nobody said who came. */
export function peopleIn(error: unknown): Person[] {
  if (!(error instanceof FormBridgeError)) return [];
  const expected = error.detail?.fields?.find(({ path }) => path === "actor")?.expected;
  return Array.isArray(expected) ? expected.filter(({ kind }) => kind === "human") : [];
}

export type OpenedLink = Exclude<Link, { kind: "mistyped" | "code" | "new" }>;

export interface CodeProof {
  code: string;
  email: string;
  actor?: Person;
}

/** How the form reaches the server: a page with a cookie, an element with a header, an MCP app through its host. */
export interface Door {
  /** `actor`: which of several people the link is opened by. */
  openLink(link: OpenedLink, actor?: Person): Promise<Opened>;
  /** A magic link: the code, and the address that it was sent to. */
  openCode(submissionId: string, proof: CodeProof): Promise<Opened>;
  /** Starts the submission of a public form: at once, or with the first answer. */
  openNew(intakeId: string, idempotencyKey: string): Promise<Opened>;
  publicIntake(intakeId: string): Promise<ShownIntake>;
}

/** The intake of a public form. One that is not public is as unknown here as one that is not there. */
export async function publicIntake(client: FormBridgeClient, intakeId: string): Promise<ShownIntake> {
  const missing = new FormBridgeError("not_found", "There is no such form.", { status: 404 });
  const { intake } = await client.intake(intakeId).catch((error: unknown) => {
    throw error instanceof FormBridgeError && error.type === "unauthorized" ? missing : error;
  });
  if (intake.access !== "public") throw missing;
  return intake;
}

export const openForm = (submission: Submission): Promise<OpenedForm> =>
  openFormSession(submission, { storage: editStorage });
