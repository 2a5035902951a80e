/*
 * RabbitMQ and other AMQP 0-9-1 servers.
 *
 *   amqp://user:password@host:5672/vhost                a durable queue with the destination's name, created if absent
 *   amqp://user:password@host:5672/vhost?exchange=in    that exchange, with the destination's name as routing key; nothing is created
 *
 * A message is accepted when the server confirms it. Messages are mandatory: one that reaches no queue is returned and fails.
 */
import type { ChannelModel, ConfirmChannel } from "amqplib";
import { Refusal } from "../failure.ts";
import { pinnedLookup } from "../guard/create-guard.ts";
import { unlessAborted } from "../in-time.ts";
import { loginOf } from "../read-url.ts";
import type { Message, OpenConnection, QueueConnection } from "./connection.ts";

const HEARTBEAT_S = 10;
/** The queue exists with other arguments, or we may not declare it. Publishing will show whether it works. */
const DECLARE_REFUSED = [403, 406];

export const openAmqpConnection: OpenConnection = async (place, signal) => {
  const { connect } = await import("amqplib");
  // Closes the socket in any state: amqplib can't cancel a handshake.
  const socket = new AbortController();
  const { url, target, addresses } = place;
  const socketOptions = { lookup: pinnedLookup(addresses), signal: socket.signal, noDelay: true };
  try {
    const opened = connect(
      {
        protocol: url.protocol.slice(0, -1),
        hostname: target.host,
        port: target.port,
        vhost: url.pathname.slice(1),
        heartbeat: HEARTBEAT_S,
        ...loginOf(url),
      },
      socketOptions,
    );
    const connection = await unlessAborted(opened, signal);
    connection.on("error", () => {});
    const channel = await unlessAborted(connection.createConfirmChannel(), signal);
    return queueConnection({ connection, channel, exchange: url.searchParams.get("exchange") ?? "" }, socket);
  } catch (error) {
    socket.abort();
    throw explained(error);
  }
};

function queueConnection(
  { connection, channel, exchange }: { connection: ChannelModel; channel: ConfirmChannel; exchange: string },
  socket: AbortController,
): QueueConnection {
  const queues = new Set<string>();
  const returned = new Set<string>();
  channel.on("error", () => {});
  channel.on("return", ({ properties }) => returned.add(String(properties.messageId)));
  const ended = new Promise<void>((resolve) => {
    connection.on("close", () => resolve());
    channel.on("close", resolve);
  });
  return {
    ended,
    async publish(message, signal) {
      const { id, name } = message;
      if (exchange === "" && !queues.has(name)) {
        await unlessAborted(ensureQueue(connection, name), signal);
        queues.add(name);
      }
      await unlessAborted(confirmed(channel, exchange, message), signal);
      if (!returned.delete(id)) return;
      queues.delete(name);
      throw new Refusal(exchange === "" ? "there is no such queue" : "its exchange routes the message to no queue");
    },
    async close() {
      // A server may never answer the close.
      const closed = Promise.resolve().then(() => connection.close());
      await Promise.race([closed.catch(() => {}), pause(CLOSE_MS)]);
      socket.abort();
    },
  };
}

const CLOSE_MS = 1_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

/** On a separate channel, because a refusal closes the channel. */
async function ensureQueue(connection: ChannelModel, name: string): Promise<void> {
  const channel = await connection.createChannel();
  channel.on("error", () => {});
  try {
    await channel.assertQueue(name, { durable: true });
    await channel.close();
  } catch (error) {
    if (!DECLARE_REFUSED.includes((error as { code?: number }).code ?? 0)) throw error;
  }
}

const confirmed = (channel: ConfirmChannel, exchange: string, message: Message): Promise<void> =>
  new Promise((resolve, reject) => {
    const { id, name, body, tenant, intakeId, submissionId, submittedAt } = message;
    const options = {
      mandatory: true,
      persistent: true,
      messageId: id,
      contentType: "application/json",
      timestamp: Math.floor(submittedAt / 1000),
      appId: "formbridge",
      headers: { tenant, intakeId, submissionId },
    };
    channel.publish(exchange, name, Buffer.from(body, "utf8"), options, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });

/** Errors of the handshake have no code, only a message that quotes the server's. */
function explained(error: unknown): unknown {
  const says = error instanceof Error ? error.message : "";
  if (/ACCESS.REFUSED/.test(says)) return new Refusal("it refuses the login");
  if (/NOT.ALLOWED/.test(says)) return new Refusal("it has no such virtual host for this login");
  return error;
}
