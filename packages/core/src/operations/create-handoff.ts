import type { Actor, CreateHandoffRequest, CreateHandoffResponse, FieldError, HandoffKind } from "@formbridge/contract";
import { type CreateHandoff, decideCreateHandoff } from "../domain/decide/create-handoff.ts";
import { ContractError } from "../domain/error.ts";
import { sha256 } from "../domain/hashing.ts";
import { type Instant, toIso } from "../domain/instant.ts";
import { handoffsIn } from "../domain/side-row.ts";
import type { Submission } from "../domain/submission.ts";
import type { Mailer } from "../ports/mailer.ts";
import type { Context } from "./context.ts";
import { requireHolder } from "./identity/access.ts";
import { normalize } from "./identity/actors.ts";
import { countMail } from "./identity/rate-limits.ts";
import type { Found } from "./identity/resolve-target.ts";
import { linksOf, sealNote } from "./links/handoff-links.ts";
import { qrImage } from "./links/qr-image.ts";
import { type HandedOver, handoffLetter } from "./notices/handoff.ts";
import { render } from "./notices/render.ts";
import { findingsOf, markOf, type OperationResponse, type Shown } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type CreateHandoffCall = WriteCall & {
  handoff: Pick<
    CreateHandoffRequest,
    "kind" | "expiresInMs" | "allowedActors" | "recipientEmail" | "message" | "qrFormat"
  >;
};

/** The secrets generated for one hand-off: in clear here, hashed or sealed at rest. */
interface Secrets {
  handoffId: string;
  session?: string;
  code?: string;
}

export async function createHandoff(
  context: Context,
  call: CreateHandoffCall,
): Promise<OperationResponse<CreateHandoffResponse>> {
  const { deps } = context;
  const { kind = "session", qrFormat = kind === "qr" ? "svg" : undefined } = call.handoff;
  const secrets = mint(context, kind);
  const isMailed = call.handoff.recipientEmail !== undefined;
  let expiresAt: Instant = 0;
  let isOwn = false;
  let about = { intake: "", missing: [] as readonly string[], now: 0 };
  const answer = await runWrite<CreateHandoffResponse>(context, call, {
    operation: "createHandoff",
    actorRequired: true,
    needsNoBasis: true,
    authorize: (found) => admitMaker(found, { kind, handoff: call.handoff }),
    async decide(submission, decideContext, { session }) {
      const others = await deps.backend.handoffs.ofSubmission(submission.submissionId);
      isOwn = session !== undefined || isHumanBearer(decideContext.actor);
      const own = session && {
        allowedActors: [ownName(session.session.actor)],
        madeIn: [...(session.handoff.madeIn ?? []), session.handoff.handoffId],
      };
      const command = { ...commandOf(context, { call, kind, submission, secrets }), ...own };
      const decision = decideCreateHandoff(submission, command, { ...decideContext, others });
      const [made] = handoffsIn(decision.side);
      if (made !== undefined) expiresAt = made.expiresAt;
      if (isMailed && made !== undefined) await admitMail(context, call);
      return decision;
    },
    body(shown) {
      const { missingFields: missing } = findingsOf(shown);
      about = { intake: shown.intake.definition.name, missing, now: shown.now };
      return bodyOf(context, shown, { kind, secrets, expiresAt });
    },
  });
  const { body } = answer;
  if (isMailed)
    await mailLink(context, call, { ...about, isOwn, url: urlIn(context, body, secrets), expiresAt, secrets });
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
  const traceparent = deps.tracing.traceparent();
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
    ...(traceparent !== undefined && { traceparent }),
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

function requireMailer(mailer: Mailer | undefined, kind?: HandoffKind): Mailer {
  if (mailer !== undefined) return mailer;
  const needing = kind === "magic_link" ? ["kind", "recipientEmail"] : ["recipientEmail"];
  const message = `This server can't send e-mail. Leave ${needing.join(" and ")} out, or ask the operator to set up a mail server.`;
  const fields = needing.map((path): FieldError => ({ path, code: "custom", message }));
  throw new ContractError("service_unavailable", message, { retryable: false, fields });
}

/** The code of a magic link is only in the mail; every other link is also in the response. */
const urlIn = ({ deps }: Context, { submissionId, url }: CreateHandoffResponse, { code }: Secrets): string =>
  code === undefined ? url : linksOf(deps.publicUrl(), { kind: "magic_link", submissionId, secret: code }).url;

/** A session may create links for itself: for its own actor, and never with the token, which it doesn't hold. */
function admitMaker(
  found: Found,
  { kind, handoff }: { kind: HandoffKind; handoff: CreateHandoffCall["handoff"] },
): void {
  if (found.session === undefined) {
    requireHolder(found);
    return;
  }
  if (kind === "direct")
    throw new ContractError("forbidden", "A session has no token, so it can't create a direct link. Use another kind.");
  if (handoff.allowedActors !== undefined) {
    throw new ContractError("forbidden", "A session can only create links for itself. Leave allowedActors out.");
  }
}

/** Someone who opened a form with only its token, and may create links for themselves too. */
const isHumanBearer = ({ kind, declared }: Actor): boolean => kind === "human" && declared === true;

/** The name of the session's actor, without the proof, which has to be given again. */
const ownName = ({ kind, id, name, declared }: Actor): Actor => ({
  kind,
  id,
  ...(name !== undefined && { name }),
  ...(declared && { declared }),
});

/** Without a mail server, nothing is promised or recorded. */
async function admitMail({ deps }: Context, { caller, handoff }: CreateHandoffCall): Promise<void> {
  requireMailer(deps.mailer, handoff.kind);
  await countMail(deps, caller);
}

/** Sent after the commit: a link that isn't recorded must not reach anyone. If the mail gets lost, no harm is done. */
async function mailLink(
  { deps }: Context,
  { handoff }: CreateHandoffCall,
  { secrets, ...about }: Omit<HandedOver, "code" | "message"> & { secrets: Secrets },
): Promise<void> {
  const { message } = handoff;
  const { code } = secrets;
  const letter = handoffLetter({ ...about, ...(code !== undefined && { code }), ...(message && { message }) });
  try {
    await requireMailer(deps.mailer).send({ to: handoff.recipientEmail ?? "", ...render(letter) });
  } catch (cause) {
    throw new ContractError("service_unavailable", "The e-mail with the link couldn't be sent. Try again.", { cause });
  }
}
