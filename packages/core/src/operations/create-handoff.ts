import type { CreateHandoffRequest, CreateHandoffResponse, HandoffKind } from "@formbridge/contract";
import { type CreateHandoff, decideCreateHandoff } from "../domain/decide/create-handoff.ts";
import { ContractError } from "../domain/error.ts";
import { sha256 } from "../domain/hashing.ts";
import { type Instant, toIso } from "../domain/instant.ts";
import type { Submission } from "../domain/submission.ts";
import type { Mailer } from "../ports/mailer.ts";
import { handoffsIn } from "../ports/store.ts";
import { handoffLetter } from "./mails/handoff.ts";
import { render } from "./mails/render.ts";
import { normalize } from "./support/actors.ts";
import { type Answer, markOf, type Shown } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { linksOf, sealNote } from "./support/handoff-links.ts";
import { qrImage } from "./support/qr-image.ts";
import { countMail } from "./support/rate-limits.ts";
import { requireHolder } from "./support/resolve-target.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export type CreateHandoffCall = WriteCall & {
  handoff: Pick<
    CreateHandoffRequest,
    "kind" | "expiresInMs" | "allowedActors" | "recipientEmail" | "message" | "qrFormat"
  >;
};

/** What is made up for one hand-off: in clear here, hashed or sealed at rest. */
interface Secrets {
  handoffId: string;
  session?: string;
  code?: string;
}

export async function createHandoff(context: Context, call: CreateHandoffCall): Promise<Answer<CreateHandoffResponse>> {
  const { deps } = context;
  const { kind = "session", qrFormat = kind === "qr" ? "svg" : undefined } = call.handoff;
  const secrets = mint(context, kind);
  let expiresAt: Instant = 0;
  const answer = await runWrite<CreateHandoffResponse>(context, call, {
    operation: "createHandoff",
    actorRequired: true,
    authorize: requireHolder,
    async decide(submission, decideContext) {
      const others = await deps.backend.handoffs.ofSubmission(submission.submissionId);
      const command = commandOf(context, { call, kind, submission, secrets });
      const decision = decideCreateHandoff(submission, command, { ...decideContext, others });
      const [made] = handoffsIn(decision.side);
      if (made !== undefined) expiresAt = made.expiresAt;
      if (kind === "magic_link" && made !== undefined) await admitMail(context, call);
      return decision;
    },
    body: (shown) => bodyOf(context, shown, { kind, secrets, expiresAt }),
  });
  if (kind === "magic_link")
    await mailCode(context, call, { secrets, expiresAt, submissionId: answer.body.submissionId });
  const { body } = answer;
  return { ...answer, body: { ...body, ...(qrFormat && { qr: qrImage(body.url, qrFormat) }) }, created: true };
}

function mint({ deps: { random } }: Context, kind: HandoffKind): Secrets {
  return {
    handoffId: random.newId("hof"),
    ...((kind === "session" || kind === "qr") && { session: random.session() }),
    ...(kind === "magic_link" && { code: random.code() }),
  };
}

function commandOf(
  { deps }: Context,
  made: { call: CreateHandoffCall; kind: HandoffKind; submission: Submission; secrets: Secrets },
): CreateHandoff {
  const { call, kind, submission, secrets } = made;
  const { allowedActors, recipientEmail, message, expiresInMs } = call.handoff;
  const { handoffId, session, code } = secrets;
  const note = {
    ...(recipientEmail !== undefined && { email: recipientEmail }),
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
  };
  return {
    handoffId,
    kind,
    ...(expiresInMs !== undefined && { expiresInMs }),
    ...(allowedActors && { allowedActors: allowedActors.map(normalize) }),
    ...(recipientEmail !== undefined && { recipientEmail }),
    ...(message !== undefined && { message }),
    ...(session !== undefined && { link: sha256(session) }),
    ...(Object.keys(note).length > 0 && { sealed: sealNote(deps.sealer, note, { ...submission, handoffId }) }),
  };
}

function bodyOf(
  { deps }: Context,
  shown: Shown,
  made: { kind: HandoffKind; secrets: Secrets; expiresAt: Instant },
): CreateHandoffResponse {
  const { kind, secrets, expiresAt } = made;
  const { submissionId } = shown.submission;
  const secret = kind === "direct" ? shown.token : secrets.session;
  return {
    ...markOf(shown),
    handoffId: secrets.handoffId,
    kind,
    ...linksOf(deps.publicUrl(), { kind, submissionId, ...(secret !== undefined && { secret }) }),
    expiresAt: toIso(expiresAt),
  };
}

function requireMailer(mailer: Mailer | undefined): Mailer {
  if (mailer !== undefined) return mailer;
  throw new ContractError("service_unavailable", "This server sends no e-mail.", { retryable: false });
}

/** A code needs a way to its reader: without one, it is neither promised nor recorded. */
async function admitMail({ deps }: Context, { caller }: CreateHandoffCall): Promise<void> {
  requireMailer(deps.mailer);
  await countMail(deps, caller);
}

/** After the commit: a code that is not recorded must not reach anybody. One that does not arrive opens nothing. */
async function mailCode(
  { deps }: Context,
  { handoff }: CreateHandoffCall,
  made: { secrets: Secrets; submissionId: string; expiresAt: Instant },
): Promise<void> {
  const { secrets, submissionId, expiresAt } = made;
  const { url } = linksOf(deps.publicUrl(), { kind: "magic_link", submissionId, secret: secrets.code ?? "" });
  const { message } = handoff;
  const letter = handoffLetter({ url, code: secrets.code ?? "", expiresAt, ...(message && { message }) });
  try {
    await requireMailer(deps.mailer).send({ to: handoff.recipientEmail ?? "", ...render(letter) });
  } catch (cause) {
    throw new ContractError("service_unavailable", "The e-mail with the code could not be sent.", { cause });
  }
}
