/*
 * NATS JetStream: `nats://user:password@host:4222`, or `tls://…` if the connection must be encrypted. The destination's
 * name is the subject, which a stream must cover. A message is accepted when the stream confirms that it is stored. The
 * delivery id is the message id, so JetStream itself drops duplicates within the stream's window.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { NodeConnectionOptions } from "@nats-io/transport-node";
import { Refusal } from "../failure.ts";
import { unlessAborted } from "../in-time.ts";
import { loginOf } from "../read-url.ts";
import type { OpenConnection, Place } from "./connection.ts";

/**
 * The sockets of one connection, so that we can close them. The client loses track of a socket if the server accepts it
 * and then says nothing, and it tries the next address even after the attempt was aborted; these sockets would stay
 * open.
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
    // On the next tick, because the connection starts only after this and would revive a destroyed socket.
    if (dialled?.ended === true) process.nextTick(() => socket.destroy());
    else dialled?.sockets.add(socket);
  });
}

function endSockets(dialled: Dialled): void {
  dialled.ended = true;
  for (const socket of dialled.sockets) socket.destroy();
}

export const openNatsConnection: OpenConnection = async (place, signal) => {
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
          throw explained(error);
        }
      },
      async close() {
        await connection.close();
        endSockets(dialled);
      },
    };
  } catch (error) {
    endSockets(dialled);
    throw explained(error);
  }
};

/** Effectively none: our own timeout ends the wait sooner. */
const FOR_EVER_MS = 86_400_000;

function optionsFor({ url, target, addresses }: Place): NodeConnectionOptions {
  const { username, password } = loginOf(url);
  return {
    servers: addresses.map(({ address, family }) => `${family === 6 ? `[${address}]` : address}:${target.port}`),
    noRandomize: true,
    resolve: false,
    // A server may advertise others, whose addresses haven't been checked.
    ignoreClusterUpdates: true,
    reconnect: false,
    timeout: FOR_EVER_MS,
    noAsyncTraces: true,
    name: "formbridge",
    // The certificate must be for this host; a name is also sent as SNI.
    tls: url.protocol === "tls:" ? { host: target.host, ...(!target.isAddress && { servername: target.host }) } : null,
    // As in NATS URLs: a user name alone is a token.
    ...(password === undefined
      ? username !== undefined && { token: username }
      : { user: username ?? "", pass: password }),
  } as NodeConnectionOptions;
}

function explained(error: unknown): unknown {
  const name = error instanceof Error ? error.name : "";
  if (/Authorization|Authentication/.test(name)) return new Refusal("it refuses the login");
  if (/NoResponders|JetStreamNotEnabled/.test(name)) return new Refusal("no stream accepts its subject");
  if (/max_payload/i.test(String(error))) return new Refusal("the message is larger than the server accepts");
  if (/JetStream/.test(name)) return new Refusal("its stream refuses the message");
  return error;
}
