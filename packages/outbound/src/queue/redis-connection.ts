/*
 * A Redis stream: `redis://user:password@host:6379/database`, or `rediss://…` with TLS. The destination's name is the
 * stream's key. A message is accepted when Redis has added it; whether it survives a restart depends on Redis's
 * persistence. Redis doesn't deduplicate; receivers can, by the field `id`.
 */
import { Refusal } from "../failure.ts";
import { pinnedLookup } from "../guard/create-guard.ts";
import { unlessAborted } from "../in-time.ts";
import { loginOf } from "../read-url.ts";
import type { OpenConnection, Place } from "./connection.ts";

export const openRedisConnection: OpenConnection = async (place, signal) => {
  const client = await createClientFor(place);
  const ended = new Promise<void>((resolve) => {
    client.on("error", () => resolve());
    client.on("end", resolve);
  });
  try {
    await unlessAborted(client.connect(), signal);
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw explained(error);
  }
  return {
    ended,
    async publish({ id, name, body, tenant, intakeId, submissionId, submittedAt }, ending) {
      const fields = { id, tenant, intakeId, submissionId, submittedAt: new Date(submittedAt).toISOString(), body };
      try {
        await unlessAborted(client.xAdd(name, "*", fields), ending);
      } catch (error) {
        throw explained(error);
      }
    },
    async close() {
      if (client.isOpen) client.destroy();
    },
  };
};

/** Building a client's commands blocks the process for 100 ms; duplicates of a client share them. */
let model: ReturnType<typeof newModel> | undefined;
const newModel = ({ createClient }: typeof import("redis")) => createClient({ RESP: 2 });

async function createClientFor(place: Place) {
  model ??= newModel(await import("redis"));
  return model.duplicate(optionsFor(place));
}

function optionsFor({ url, target, addresses }: Place) {
  const database = Number(url.pathname.slice(1));
  return {
    ...loginOf(url),
    ...(database > 0 && { database }),
    disableOfflineQueue: true,
    commandOptions: { timeout: 0 },
    // A server may redirect its clients to an address that hasn't been checked.
    RESP: 2 as const,
    maintNotifications: "disabled" as const,
    socket: {
      host: target.host,
      port: target.port,
      lookup: pinnedLookup(addresses),
      connectTimeout: 0,
      reconnectStrategy: false as const,
      ...(url.protocol === "rediss:" && { tls: true as const, ...(!target.isAddress && { servername: target.host }) }),
    },
  };
}

/** Redis starts an error with a code word; the rest may quote what was sent. */
function explained(error: unknown): unknown {
  const [, word] = /^([A-Z]{2,20})\b/.exec(error instanceof Error ? error.message : "") ?? [];
  if (word === undefined || (error as { code?: unknown }).code !== undefined) return error;
  if (["WRONGPASS", "NOAUTH"].includes(word)) return new Refusal("it refuses the login");
  return new Refusal(`it answered ${word}`);
}
