import { ContractError, type Operations, type Target } from "@formbridge/core";
import type { Call } from "./model.ts";

const ADDRESS = "127.0.0.1";

/** Makes a call on the product, as a transport would. */
export async function perform(
  operations: Operations,
  call: Call,
  deliver: () => Promise<void>,
): Promise<Record<string, unknown>> {
  const { player, submissionId, token, versions, key, fields = {}, uploadId = "" } = call;
  const caller = {
    address: ADDRESS,
    ...(player.apiKey !== undefined && { apiKey: player.apiKey }),
    ...(call.session !== undefined && { session: call.session }),
  };
  const { kind, id } = player.actor;
  if (kind === "system" && call.kind !== "sweep" && call.kind !== "flush" && call.kind !== "deliver")
    throw new Error("the system makes no calls");
  const actor = { kind: kind === "human" ? ("human" as const) : ("agent" as const), id };
  const target: Target = {
    tokens: token === undefined ? [] : [token],
    versions,
    ...(submissionId !== undefined && { submissionId }),
  };
  const write = { caller, target, actor, ...(key !== undefined && { idempotencyKey: key }) };
  switch (call.kind) {
    case "create": {
      const { intake: intakeId, ttlMs } = call;
      const request = { actor, ...(call.fields && { initialFields: fields }), ...(ttlMs !== undefined && { ttlMs }) };
      return body(
        await operations.createSubmission({
          caller,
          intakeId,
          request,
          ...(key !== undefined && { idempotencyKey: key }),
        }),
      );
    }
    case "setFields":
      return body(await operations.setFields({ ...write, fields }));
    case "validate":
      return body(await operations.validate(write));
    case "requestUpload": {
      const { sizeBytes = 0, mimeType = "" } = call;
      return body(
        await operations.requestUpload({ ...write, upload: { field: "doc", filename: "f.png", sizeBytes, mimeType } }),
      );
    }
    case "confirmUpload":
      return body(await operations.confirmUpload({ ...write, uploadId }));
    case "submit":
      return body(await operations.submit(write));
    case "review": {
      const { decision = "approved", reasons } = call;
      return body(await operations.review({ ...write, decision, ...(reasons && { reasons }) }));
    }
    case "cancel":
      return body(await operations.cancel(write));
    case "revoke":
      return body(await operations.revokeTokens(write));
    case "reissue":
      return body(await operations.reissueToken(write));
    case "retryDelivery":
      return body(await operations.retryDelivery(write));
    case "handoff":
      return body(await operations.createHandoff({ ...write, handoff: {} }));
    case "revokeHandoff":
      return body(await operations.revokeHandoff({ ...write, handoffId: call.handoffId ?? "" }));
    case "openSession": {
      const request = { session: call.link ?? "", actor, carrier: "header" as const };
      return body(await operations.openSession({ caller, submissionId: submissionId ?? "", request }));
    }
    case "get":
      return body(await operations.getSubmission({ caller, target }));
    case "events":
      return body(await operations.getEvents({ caller, target, query: { limit: 1000 } }));
    case "list":
      return body(await operations.listSubmissions({ caller, query: {} }));
    case "sweep":
      return { ...(await operations.sweep()) };
    case "flush":
      await operations.flushAudit();
      return {};
    case "deliver":
      await deliver();
      return {};
  }
}

const body = ({ body: answered }: { body: object }): Record<string, unknown> => ({ ...answered });

export const describe = (call: Call): string => {
  const { kind, player, submissionId, token, versions, key, fields, decision, outcome } = call;
  const named = [
    submissionId,
    token?.replace(/^rtok_A+/, "…"),
    call.session?.replace(/^sess_A+/, "session …"),
    call.link?.replace(/^sess_A+/, "link …"),
    versions.length > 0 ? `v${versions.join(",")}` : undefined,
  ];
  const said = [key && `key ${key.slice(0, 16)}`, fields && JSON.stringify(fields), decision, outcome];
  return [kind, `by ${player.name}`, ...named, ...said].filter((part) => part !== undefined).join(" ");
};

type Ended = { body: Record<string, unknown> } | { error: unknown };

/** What kind of response it was. */
export function outcomeName(outcome: Ended): string {
  if ("error" in outcome) return `✗ ${outcome.error instanceof ContractError ? outcome.error.type : "nothing"}`;
  const { state = "", _idempotent } = outcome.body;
  return `✓ ${state}${_idempotent === true ? " replay" : ""}`;
}

export function outcomeText(outcome: Ended): string {
  const { submissionId = "", version = "" } = "body" in outcome ? outcome.body : {};
  return `${outcomeName(outcome)} ${submissionId} ${version === "" ? "" : `v${version}`}`.trim();
}
