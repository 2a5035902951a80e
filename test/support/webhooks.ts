import type { OutgoingDelivery } from "@formbridge/core";
import { expect } from "vitest";
import type { Loose, Reply, TestServer } from "./harness.ts";
import { created, setFields, until } from "./moves.ts";
import type { ScriptedCourier } from "./scripted-courier.ts";

let made = 0;
/** The URL of a new receiver. */
export function newUrl(): string {
  made += 1;
  return `https://receiver.invalid/events/${made}`;
}

export const postWebhook = (server: TestServer, body: unknown, key = server.adminKey): Promise<Reply> =>
  server.call("POST", "/webhooks", { key, body });

/** Creates a webhook with its own receiver. */
export async function webhook(server: TestServer, wanted: Loose = {}, key = server.adminKey): Promise<Loose> {
  const reply = await postWebhook(server, { url: newUrl(), ...wanted }, key);
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return reply.body.webhook;
}

export const lookAt = async (server: TestServer, id: string, key = server.adminKey): Promise<Loose> =>
  (await server.call("GET", `/webhooks/${id}`, { key })).body.webhook;

export const onceSo = (server: TestServer, id: string, isSo: (webhook: Loose) => boolean): Promise<Loose> =>
  until(async () => {
    const found = await lookAt(server, id);
    return isSo(found) ? found : undefined;
  });

/** Waits until everything due was sent. */
export async function pushed({ server }: TestServer): Promise<void> {
  if (server.worker.webhooks === undefined) throw new Error("this server sends nothing");
  await server.worker.webhooks.drain();
}

export const sentTo = ({ sent }: ScriptedCourier, url: string): OutgoingDelivery[] =>
  sent.filter(({ destination }) => "url" in destination && destination.url === url);
export const messageOf = ({ body }: OutgoingDelivery): Loose => JSON.parse(body);
export const idsOf = (sent: OutgoingDelivery[]): string[] => sent.map(({ deliveryId }) => deliveryId);

/** A submission with this many writes, and so one more event in the submission stream. */
export async function written(server: TestServer, intakeId: string, writes = 2): Promise<string> {
  const first = await created(server, intakeId);
  let token = first.resumeToken;
  for (let write = 0; write < writes; write++) {
    const reply = await setFields(server, token, { name: `name ${write}` });
    expect(reply.status).toBe(200);
    token = reply.body.resumeToken;
  }
  return first.submissionId;
}
