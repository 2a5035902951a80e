import { ALARMS, type AlarmResponse } from "@formbridge/contract";
import type { Block, Incident, ResponseOutcome } from "../../domain/alarms/incident.ts";
import type { Decision } from "../../domain/decide/decision.ts";
import { decideReissueToken, decideRevokeTokens } from "../../domain/decide/tokens.ts";
import { toIso } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "../context.ts";
import { contactOf } from "../notices/contact.ts";
import { render } from "../notices/render.ts";
import { type LoadedSubmission, loadSubmission } from "../read/load-submission.ts";
import { actOnLatest } from "../write/act-on-latest.ts";
import { decideContextOf } from "../write/decide-context.ts";

const WATCH = { kind: "system", id: "watch" } as const;
const MAX_TRIES = 8;
const MAX_UPDATES = 5;
const RETRY_MS = 60_000;
const SEND_TIMEOUT_MS = 10_000;

type Outcome = ResponseOutcome["outcome"];

/**
 * Writes the event, carries out the responses and notifies the operator. Each step can be repeated: whoever continues after a crash
 * does no harm. A step that fails is tried again later; after the last try it is recorded as failed.
 */
export async function respond(context: Context, incident: Incident): Promise<void> {
  const { due } = incident;
  if (due === undefined) return;
  const isLast = due.tries + 1 >= MAX_TRIES;
  const outcomes: ResponseOutcome[] = [];
  const steps: [ResponseOutcome["response"], () => Promise<Outcome>][] = [
    ...due.responses.map((one): (typeof steps)[number] => [one, () => carryOut(context, incident, one)]),
    ["notify_operator", () => notifyOperator(context, incident)],
  ];
  let isWritten = incident.evidence.submissionId === undefined;
  try {
    if (!isWritten) await writeEvent(context, incident);
    isWritten = true;
  } catch {}
  for (const [response, step] of steps) {
    if (incident.responses.some((done) => done.response === response)) continue;
    try {
      outcomes.push({ response, outcome: await step() });
    } catch {
      if (isLast) outcomes.push({ response, outcome: "failed" });
    }
  }
  const isDone = isLast || (isWritten && outcomes.length + incident.responses.length === steps.length);
  await settle(context, incident, { outcomes, isDone });
}

/** An operator may have acknowledged or closed it meanwhile: that stays. */
async function settle(
  { deps }: Context,
  { tenant, incidentId }: Incident,
  { outcomes, isDone }: { outcomes: ResponseOutcome[]; isDone: boolean },
): Promise<void> {
  const now = await deps.backend.deadlines.now();
  for (let tries = 0; tries < MAX_UPDATES; tries++) {
    const latest = await deps.backend.incidents.get({ tenant, incidentId });
    if (latest?.due === undefined) return;
    const { due, ...rest } = latest;
    const later = { due: { ...due, tries: due.tries + 1, at: now + RETRY_MS * 2 ** due.tries } };
    const next: Incident = {
      ...rest,
      revision: latest.revision + 1,
      responses: [...latest.responses, ...outcomes],
      ...(!isDone && later),
    };
    if (await deps.backend.incidents.update(next)) return;
  }
}

/** The event, and what happens to the tokens, in one commit. */
async function writeEvent(context: Context, incident: Incident): Promise<void> {
  const { tenant, evidence, kind, incidentId, count, threshold, windowMs, due } = incident;
  const { submissionId } = evidence;
  if (submissionId === undefined) return;
  await actOnLatest(
    context,
    { tenant, submissionId },
    {
      operation: "raiseIncident",
      actor: WATCH,
      decide(found) {
        const { submission } = found;
        if (submission.erasedAt !== undefined || entryOf(submission, incidentId) !== undefined) return undefined;
        const token = tokenMove(context, found, due?.responses ?? []);
        const response = token === "keep" ? {} : { response: token };
        const event = { type: "security.incident", incidentId, kind, count, threshold, windowMs, ...response } as const;
        return { decision: { events: [event], token }, ignoresDeadline: true };
      },
    },
  );
}

function tokenMove(
  { deps }: Context,
  { submission, intake, now }: LoadedSubmission,
  responses: readonly AlarmResponse[],
): "keep" | "revoke" | "reissue" {
  const about = decideContextOf(deps, { now, actor: WATCH, intake });
  const decided = (decision: Decision) => (decision.refusal === undefined ? decision.token : "keep");
  if (submission.tokensRevoked) return "keep";
  const move = responses.includes("revoke")
    ? decided(decideRevokeTokens(submission, about))
    : responses.includes("reissue")
      ? decided(decideReissueToken(submission, about))
      : "keep";
  return move === "revoke" || move === "reissue" ? move : "keep";
}

async function carryOut(context: Context, incident: Incident, response: AlarmResponse): Promise<Outcome> {
  switch (response) {
    case "revoke":
    case "reissue":
      return await tokensMoved(context, incident);
    case "block":
      return await blockAddress(context, incident);
    case "notify_creator":
      return await notifyCreator(context, incident);
  }
}

/** The commit that wrote the event has revoked or reissued the tokens already; this only reports what it did. */
async function tokensMoved(context: Context, { tenant, evidence, incidentId }: Incident): Promise<Outcome> {
  const { submissionId } = evidence;
  const found = submissionId === undefined ? undefined : await loadSubmission(context, { tenant, submissionId });
  if (found === undefined) return "nothing_to_do";
  const entry = entryOf(found.submission, incidentId);
  if (entry === undefined && found.submission.erasedAt === undefined) throw new Error("the event is not written yet");
  return entry?.response === undefined ? "nothing_to_do" : "done";
}

const entryOf = ({ incidents = [] }: Submission, incidentId: string) =>
  incidents.find((entry) => entry.incidentId === incidentId);

/** The id is the incident's, so that a repeated response is the same block. */
export const blockOf = (incidentId: string): string => incidentId.replace(/^inc_/, "blk_");

async function blockAddress({ deps }: Context, { tenant, evidence, kind, incidentId }: Incident): Promise<Outcome> {
  if (evidence.address === undefined) return "nothing_to_do";
  const createdAt = await deps.backend.deadlines.now();
  const endsAt = createdAt + deps.settings.alarmBlockMs;
  const base = { blockId: blockOf(incidentId), tenant, network: evidence.address, createdAt, endsAt };
  const block: Block = { ...base, reason: ALARMS[kind].when, incidentId };
  await deps.backend.blocks.add(block);
  return "done";
}

async function notifyCreator(context: Context, { tenant, evidence, kind, raisedAt }: Incident): Promise<Outcome> {
  const { mailer } = context.deps;
  const { submissionId } = evidence;
  const found =
    mailer === undefined || submissionId === undefined
      ? undefined
      : await loadSubmission(context, { tenant, submissionId });
  const to = found && (await contactOf(context, found.submission));
  if (mailer === undefined || found === undefined || to === undefined) return "nothing_to_do";
  const { name } = found.intake.definition;
  const letter = {
    subject: `Unusual activity: ${name}`,
    parts: [
      `Something unusual happened to your submission of ${name} at ${toIso(raisedAt)}: ${ALARMS[kind].when}.`,
      "If that was you, you need not do anything. If not, tell whoever sent you the form, and don't pass your link on.",
      `It is ${submissionId}.`,
    ],
  };
  await mailer.send({ to, ...render(letter) });
  return "done";
}

/** The webhook first: its receiver knows a repeated notification by its id, a mailbox doesn't. */
async function notifyOperator(context: Context, incident: Incident): Promise<Outcome> {
  const isSent = await sendToOperator(context, incident);
  const isMailed = await mailOperator(context, incident);
  return isSent || isMailed ? "done" : "nothing_to_do";
}

const aboutOf = ({ incidentId, kind, evidence, count, raisedAt }: Incident) => ({
  incidentId,
  kind,
  ...evidence,
  count,
  raisedAt: toIso(raisedAt),
});

async function sendToOperator({ deps }: Context, incident: Incident): Promise<boolean> {
  const { notifyUrl, courier } = deps;
  if (notifyUrl === undefined) return false;
  const { incidentId, tenant, evidence, raisedAt } = incident;
  const { intakeId = "", submissionId = "" } = evidence;
  const receipt = await courier.send(
    {
      deliveryId: `ntf_${incidentId.slice(4)}`,
      tenant,
      intakeId,
      submissionId,
      destination: { kind: "webhook", url: notifyUrl },
      body: JSON.stringify({ type: "security.incident", ...aboutOf(incident) }),
      submittedAt: raisedAt,
      attempt: 1,
      secrets: deps.webhookSecrets({ tenant, intakeId }),
    },
    AbortSignal.timeout(SEND_TIMEOUT_MS),
  );
  if (receipt.kind === "failed") throw new Error(receipt.error);
  return true;
}

async function mailOperator({ deps }: Context, incident: Incident): Promise<boolean> {
  const { mailer, settings } = deps;
  if (mailer === undefined || settings.alarmMail === undefined) return false;
  const { kind } = incident;
  const facts = Object.entries(aboutOf(incident)).map(([name, value]) => `${name}: ${value}`);
  const parts = [`An alarm tripped: ${ALARMS[kind].when}.`, { list: facts }, "Acknowledge or close it at /incidents."];
  await mailer.send({ to: settings.alarmMail, ...render({ subject: `Security incident: ${kind}`, parts }) });
  return true;
}
