import type { Pool } from "undici";
import { type Address, pinnedLookup } from "../guard/create-guard.ts";

/** Shorter than servers keep idle connections, so that we don't use one that is just being closed. */
const KEEP_ALIVE_MS = 1_000;
const MAX_PLACES = 200;

interface Place {
  pool: Pool;
  users: number;
  timer?: NodeJS.Timeout;
}

export interface Connections {
  /**
   * Runs `work` with connections to these addresses of an origin only. They stay open for a moment, for the next
   * delivery.
   */
  use<Result>(
    where: { origin: string; addresses: readonly Address[] },
    work: (pool: Pool) => Promise<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
}

/**
 * A burst of deliveries to one receiver shares connections. Every attempt resolves and checks the host itself, and only
 * attempts with the same checked addresses share a connection.
 */
export function createConnections({ timeoutMs }: { timeoutMs: number }): Connections {
  const places = new Map<string, Place>();

  async function open({ origin, addresses }: { origin: string; addresses: readonly Address[] }): Promise<Pool> {
    // Loaded with the first delivery, so that a server without webhooks starts sooner.
    const { Pool } = await import("undici");
    return new Pool(origin, {
      // A connecting socket may outlive the attempt that opened it, but not the timeout.
      connect: { lookup: pinnedLookup(addresses), timeout: timeoutMs },
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // The attempt's signal covers all of it; these would end parts of it sooner.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  function leave(name: string, place: Place): void {
    place.users -= 1;
    if (place.users > 0) return;
    const end = (): void => {
      places.delete(name);
      void place.pool.destroy();
    };
    if (places.size > MAX_PLACES) end();
    else place.timer = setTimeout(end, KEEP_ALIVE_MS).unref();
  }

  return {
    async use(where, work) {
      const name = JSON.stringify([where.origin, where.addresses.map(({ address }) => address).sort()]);
      const fresh = places.get(name) === undefined ? await open(where) : undefined;
      // Another attempt may have opened it meanwhile.
      const place = places.get(name) ?? { pool: fresh as Pool, users: 0 };
      if (fresh !== undefined && place.pool !== fresh) void fresh.destroy();
      places.set(name, place);
      clearTimeout(place.timer);
      place.users += 1;
      try {
        return await work(place.pool);
      } finally {
        leave(name, place);
      }
    },
    async close() {
      for (const { timer } of places.values()) clearTimeout(timer);
      await Promise.all([...places.values()].map(({ pool }) => pool.destroy()));
      places.clear();
    },
  };
}
