import type { TestWebhookResponse } from "@formbridge/contract";
import { toIso } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import type { OperationResponse } from "./read/response.ts";
import { messageParcel } from "./webhooks/event-sender.ts";
import { secretsAt } from "./webhooks/webhook-secrets.ts";
import { type OneWebhookCall, visible } from "./webhooks.ts";

/** Sends a signed test message that isn't an event, and returns the outcome. Changes nothing. */
export async function testWebhook(
  context: Context,
  call: OneWebhookCall,
): Promise<OperationResponse<TestWebhookResponse>> {
  const { deps } = context;
  const webhook = await visible(context, call);
  const { webhookId } = webhook;
  const now = await deps.backend.deadlines.now();
  const message = { id: deps.random.newId("evt"), type: "webhook.test", ts: toIso(now), data: { webhookId } } as const;
  const about = { intakeId: "", submissionId: "", attempt: 1, secrets: secretsAt(deps, webhook, now) };
  const began = performance.now();
  const receipt = await deps.courier.send(messageParcel(webhook, message, about), new AbortController().signal);
  return {
    body: {
      ok: true,
      webhookId,
      messageId: message.id,
      accepted: receipt.kind === "accepted",
      latencyMs: Math.round(performance.now() - began),
      ...(receipt.status !== undefined && { status: receipt.status }),
      ...(receipt.kind === "failed" && { error: receipt.error }),
    },
  };
}
