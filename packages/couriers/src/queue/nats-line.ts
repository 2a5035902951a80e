/*
 * NATS JetStream: `nats://user:password@host:4222`, or `tls://…` where the connection must be encrypted. The destination's name is the
 * subject; a stream must take it. A message is taken when the stream says that it is stored. The delivery's id is the message id,
 * by which JetStream itself drops a message that comes twice within the stream's window.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { NodeConnectionOptions } from "@nats-io/transport-node";
import { Refusal } from "../failure.ts";
import { unlessAborted } from "../in-time.ts";
import { loginOf } from "../read-url.ts";
import type { OpenLine, Place } from "./line.ts";

/**
 * The sockets of one connection. The client forgets that of a server which accepts and then says nothing, and goes on to the next
 * address when nobody waits any more: either would stay open for as long as the server likes.
 */
interface Dialled {
  sockets: Set<Socket>;
  ended: boolean;
}

const dialing = new AsyncLocalStorage<Dialled>();
let watching = false;
function watchSockets(): void {
  if (watching) return;
  watching = true;
  subscribe("net.client.socket", (message) => {
    const { socket } = message as { socket: Socket };
    const dialled = dialing.getStore();
    // A moment later: the connection is begun after this, and would bring a destroyed socket back.
    if (dialled?.ended === true) process.nextTick(() => socket.destroy());
    else dialled?.sockets.add(socket);
  });
}

function endSockets(dialled: Dialled): void {
  dialled.ended = true;
  for (const socket of dialled.sockets) socket.destroy();
}

export const openNatsLine: OpenLine = async (place, signal) => {
  const [{ connect }, { jetstream }] = await Promise.all([
    import("@nats-io/transport-node"),
    import("@nats-io/jetstream"),
  ]);
  watchSockets();
  const dialled: Dialled = { sockets: new Set(), ended: false };
  try {
    const opened = dialing.run(dialled, () => connect(optionsFor(place)));
    const connection = await unlessAborted(opened, signal);
    const stream = jetstream(connection);
    return {
      ended: connection.closed(),
      async publish({ id, name, body }, ending) {
        try {
          await unlessAborted(stream.publish(name, body, { msgID: id, timeout: FOR_EVER_MS }), ending);
        } catch (error) {
          throw plainly(error);
        }
      },
      async close() {
        await connection.close();
        endSockets(dialled);
      },
    };
  } catch (error) {
    endSockets(dialled);
    throw plainly(error);
  }
};

/** Our own time-out ends the wait sooner. */
const FOR_EVER_MS = 86_400_000;

function optionsFor({ url, target, addresses }: Place): NodeConnectionOptions {
  const { username, password } = loginOf(url);
  return {
    servers: addresses.map(({ address, family }) => `${family === 6 ? `[${address}]` : address}:${target.port}`),
    noRandomize: true,
    resolve: false,
    // A server may name others to go to. Nobody has judged those.
    ignoreClusterUpdates: true,
    reconnect: false,
    timeout: FOR_EVER_MS,
    noAsyncTraces: true,
    name: "formbridge",
    // What the certificate must be for; a name is also asked for in the greeting.
    tls: url.protocol === "tls:" ? { host: target.host, ...(!target.isAddress && { servername: target.host }) } : null,
    // As NATS writes it: a name alone is a token.
    ...(password === undefined
      ? username !== undefined && { token: username }
      : { user: username ?? "", pass: password }),
  } as NodeConnectionOptions;
}

function plainly(error: unknown): unknown {
  const name = error instanceof Error ? error.name : "";
  if (/Authorization|Authentication/.test(name)) return new Refusal("it refuses the login");
  if (/NoResponders|JetStreamNotEnabled/.test(name) || /no responders|503/i.test(String(error))) {
    return new Refusal("no stream takes its subject");
  }
  if (/max_payload/i.test(String(error))) return new Refusal("the message is larger than it takes");
  if (/JetStream/.test(name)) return new Refusal("its stream refuses the message");
  return error;
}
