/** A receiver of webhooks: it takes what was signed with its secret, and each delivery once. */
import { createServer, type Server } from "node:http";
import { Webhook } from "standardwebhooks";

export function createReceiver(secret: string, take: (delivery: unknown) => Promise<void> | void): Server {
  const verifier = new Webhook(secret);
  // For the example. Yours is a unique column of the table that you write to, in the same transaction.
  const seen = new Set<string>();
  return createServer(async (request, response) => {
    // The body as it came: parsed and written anew, it would have another signature.
    const body = Buffer.concat(await request.toArray()).toString("utf8");
    let delivery: unknown;
    try {
      delivery = verifier.verify(body, request.headers as Record<string, string>);
    } catch {
      response.writeHead(401).end();
      return;
    }
    const id = String(request.headers["webhook-id"]);
    if (!seen.has(id)) await take(delivery);
    seen.add(id);
    response.writeHead(204).end();
  });
}
