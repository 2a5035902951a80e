import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import type { Dice } from "../simulation/random.ts";

export interface Arrival {
  deliveryId: string;
  submissionId: string;
  body: string;
  at: number;
  taken: boolean;
}

export interface Receiver {
  url: string;
  arrivals: Arrival[];
  /** Requests that the official verifier did not accept. */
  unsigned: number;
  stop(): Promise<void>;
}

/** A receiver of webhooks that verifies every signature, and fails as often as configured: by refusing, or by accepting without a response. */
export async function startReceiver(
  secret: string,
  { dice, failing }: { dice: Dice; failing: number },
): Promise<Receiver> {
  const verifier = new Webhook(secret);
  const arrivals: Arrival[] = [];
  const receiver = { arrivals, unsigned: 0 };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("utf8");
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      try {
        verifier.verify(body, headers);
      } catch {
        receiver.unsigned += 1;
        response.writeHead(401).end();
        return;
      }
      const fails = dice.chance(failing);
      const { submissionId } = JSON.parse(body).data;
      const deliveryId = headers["webhook-id"] ?? "";
      arrivals.push({ deliveryId, submissionId, body, at: Date.now(), taken: !fails });
      if (!fails) response.writeHead(204).end();
      else if (dice.chance(0.5)) response.writeHead(503).end();
      else request.socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}/hook`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
