import { Client } from "pg";
import { connectionSettings, type PostgresOptions } from "./database.ts";

const CHANNEL = "formbridge_events";
const NOTIFY = { name: "notify", text: `SELECT pg_notify('${CHANNEL}', $1)` };
const RECONNECT_MS = 500;

export interface ListenerOptions extends Omit<PostgresOptions, "poolSize"> {
  reconnectMs?: number;
}

export interface Ears {
  heard(text: string): void;
  /** Connected or reconnected: notifications sent in between were missed. */
  connected(): void;
}

export interface Listener {
  /** Notifies all listeners, including this process. False: there is no connection. One call at a time. */
  say(text: string): Promise<boolean>;
  close(): Promise<void>;
}

/** One connection that sends and receives notifications; it reconnects whenever it is lost. */
export function createListener({ reconnectMs = RECONNECT_MS, ...options }: ListenerOptions, ears: Ears): Listener {
  let client: Client | undefined;
  let isListening = false;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;
  let connecting = connect();

  async function connect(): Promise<void> {
    const fresh = new Client(connectionSettings(options));
    client = fresh;
    fresh.on("error", () => {});
    fresh.on("end", () => lost(fresh));
    fresh.on("notification", ({ payload = "" }) => ears.heard(payload));
    try {
      await fresh.connect();
      await fresh.query(`LISTEN ${CHANNEL}`);
    } catch {
      lost(fresh);
      return;
    }
    isListening = true;
    ears.connected();
  }

  function lost(which: Client): void {
    if (client !== which) return;
    client = undefined;
    isListening = false;
    void which.end().catch(() => {});
    if (isClosed) return;
    retry = setTimeout(() => {
      connecting = connect();
    }, reconnectMs).unref();
  }

  return {
    async say(text) {
      const speaker = client;
      if (speaker === undefined || !isListening) return false;
      try {
        await speaker.query({ ...NOTIFY, values: [text] });
        return true;
      } catch {
        lost(speaker);
        return false;
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      await connecting;
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}
