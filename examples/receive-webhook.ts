/** A webhook receiver: accepts what is signed with its secret, and processes each delivery once. */
import { createServer, type Server } from "node:http";
import { Webhook } from "standardwebhooks";

export function createReceiver(secret: string, take: (delivery: unknown) => Promise<void> | void): Server {
  const verifier = new Webhook(secret);
  // For the example only. In production, use a unique column in the table you write to, in the same transaction.
  const seen = new Set<string>();
  return createServer(async (request, response) => {
    // Verify the raw body: parsing and serializing it again would change the signature.
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
