/*
 * RabbitMQ, and what else speaks AMQP 0-9-1.
 *
 *   amqp://user:password@host:5672/vhost                a durable queue of the destination's name, made when it is not there
 *   amqp://user:password@host:5672/vhost?exchange=in    that exchange, with the destination's name as routing key; nothing is made
 *
 * A message is taken when the server confirms it. It is mandatory: one that no queue gets comes back, and was not taken.
 */
import type { ChannelModel, ConfirmChannel } from "amqplib";
import { Refusal } from "../failure.ts";
import { pinnedLookup } from "../guard/create-guard.ts";
import { unlessAborted } from "../in-time.ts";
import { loginOf } from "../read-url.ts";
import type { Line, Message, OpenLine } from "./line.ts";

const HEARTBEAT_S = 10;
/** The queue is there, made by somebody else in another way, or not ours to make. Whether it takes messages is seen then. */
const LOOKED_AFTER = [403, 406];

export const openAmqpLine: OpenLine = async (place, signal) => {
  const { connect } = await import("amqplib");
  // Ends the socket in any state: the client has no way to give up in the middle of its greeting.
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
    return lineOf({ connection, channel, exchange: url.searchParams.get("exchange") ?? "" }, socket);
  } catch (error) {
    socket.abort();
    throw plainly(error);
  }
};

function lineOf(
  { connection, channel, exchange }: { connection: ChannelModel; channel: ConfirmChannel; exchange: string },
  socket: AbortController,
): Line {
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
      throw new Refusal(exchange === "" ? "there is no such queue" : "no queue gets what its exchange is given");
    },
    async close() {
      // Waits for the server's goodbye, but not for one that never says it.
      const goodbye = Promise.resolve().then(() => connection.close());
      await Promise.race([goodbye.catch(() => {}), pause(GOODBYE_MS)]);
      socket.abort();
    },
  };
}

const GOODBYE_MS = 1_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

/** On a channel of its own, because a refusal closes the channel. */
async function ensureQueue(connection: ChannelModel, name: string): Promise<void> {
  const channel = await connection.createChannel();
  channel.on("error", () => {});
  try {
    await channel.assertQueue(name, { durable: true });
    await channel.close();
  } catch (error) {
    if (!LOOKED_AFTER.includes((error as { code?: number }).code ?? 0)) throw error;
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

function plainly(error: unknown): unknown {
  const says = error instanceof Error ? error.message : "";
  if (/ACCESS.REFUSED/.test(says)) return new Refusal("it refuses the login");
  if (/NOT.ALLOWED/.test(says)) return new Refusal("it has no such virtual host for this login");
  return error;
}
