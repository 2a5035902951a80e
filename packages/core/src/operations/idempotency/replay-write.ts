import type { JsonObject } from "@formbridge/contract";
import { ContractError, type ErrorAbout } from "../../domain/error.ts";
import { maskFields } from "../../domain/fields/mask.ts";
import type { KeyRecord, KeyRef } from "../../domain/idempotency/key-record.ts";
import { matchRecord, writtenVersion } from "../../domain/idempotency/match-record.ts";
import { isPast } from "../../domain/policy.ts";
import { awaitFirstDelivery } from "../delivery/first-delivery.ts";
import { loadSubmission } from "../read/load-submission.ts";
import type { OperationResponse } from "../read/response.ts";
import { refuseFailedDelivery } from "../write/guard-write.ts";
import { type Attempt, carriedVersion, principalName, type WriteResponse } from "../write/write-spec.ts";
import { keyConflict, openAnswer } from "./keyed.ts";
import { recordConflict } from "./record-conflict.ts";

/** What a live record means for this call: replay it, try again and replace it, or a 409. */
export async function weigh(attempt: Attempt<object>, record: KeyRecord): Promise<"replay" | "try_again"> {
  const { context, found, actor, key } = attempt;
  const { submission } = found;
  const fingerprint = key?.fingerprint ?? "";
  const verdict = matchRecord(record, {
    fingerprint,
    principal: principalName(found),
    carriedVersion: carriedVersion(attempt),
    submissionId: submission.submissionId,
    currentVersion: submission.version,
    writtenVersion: writtenVersion(submission),
  });
  if (verdict === "replay" || verdict === "try_again") return verdict;
  await recordConflict(context, { record, verdict, fingerprint, actor, tenant: submission.tenant, found });
  throw keyConflict(verdict === "conflict" ? record : undefined);
}

/** Returns the recorded response unchanged. */
export async function replayWrite<Body extends object>(
  attempt: Attempt<Body>,
  record: KeyRecord,
): Promise<WriteResponse<Body>> {
  const { context, found, actor } = attempt;
  const { now, submission, intake } = found;
  await context.replayLog.append({ submission, intake, actor, now, record });
  context.facts.replayed = true;
  const answer = replayOf<Body>(attempt, record);
  const open = submission.delivery?.answer;
  if (open?.key !== record.ref.hash || now >= open.by) return answer;
  const later = async (): Promise<OperationResponse<Body>> => {
    const came = await awaitFirstDelivery(context, { submission, now, until: open.by });
    if (came !== undefined) refuseFailedDelivery(attempt, came.submission);
    const then = await recordNow(attempt, record.ref);
    return then === undefined ? answer : replayOf<Body>(attempt, then);
  };
  return { ...answer, later };
}

/** The response of the call that made the record, as recorded now. */
export async function recordedAnswer<Body extends object>(
  attempt: Attempt<Body>,
  ref: KeyRef,
): Promise<OperationResponse<Body> | undefined> {
  const record = await recordNow(attempt, ref);
  if (record === undefined) return undefined;
  const { body, mark, definition } = replayOf<Body>(attempt, record);
  return { body: { ...body, _idempotent: false }, ...(mark && { mark }), ...(definition && { definition }) };
}

/** Undefined if the record has expired or was erased with its submission. */
async function recordNow({ context, found }: Attempt<object>, ref: KeyRef): Promise<KeyRecord | undefined> {
  const then = await loadSubmission(context, found.submission, ref);
  return then?.submission.erasedAt === undefined ? then?.record : undefined;
}

/** The record may be of another caller, who could see more. */
function seenBy<Body extends object>({ masked, intake }: Attempt<object>["found"], body: Body): Body {
  const { fields } = body as { fields?: JsonObject };
  return masked && fields !== undefined ? { ...body, fields: maskFields(fields, intake) } : body;
}

function replayOf<Body extends object>(attempt: Attempt<Body>, record: KeyRecord): OperationResponse<Body> {
  const { context, found } = attempt;
  const recorded = openAnswer(context.deps, record, found.submission.tenant);
  if ("error" in recorded) {
    const { type, message, ...detail } = recorded.error;
    throw new ContractError(type, message, {
      ...detail,
      about: { ...withoutLapsed(recorded.about, attempt), idempotent: true, replayOf: record.recordedAt },
    });
  }
  const body = { ...withoutLapsed(seenBy(found, recorded.body as Body), attempt), _idempotent: true };
  const { version, resumeToken } = body as object as { version: number; resumeToken?: string };
  return {
    body,
    mark: { version, updatedAt: record.recordedAt, ...(resumeToken !== undefined && { resumeToken }) },
    replayOf: record.recordedAt,
    definition: found.intake.definition,
  };
}

/** Removes a token that has lapsed since the response was recorded. */
function withoutLapsed<T extends object>(recorded: T, { context, found }: Attempt<object>): T {
  const { tokenExpiresAt, resumeToken, resumeUrl, ...rest } = recorded as T & ErrorAbout;
  if (tokenExpiresAt === undefined) return recorded;
  const isOver = isPast(Date.parse(tokenExpiresAt), found.now, context.deps.settings.policy);
  return isOver ? (rest as T) : recorded;
}
