import type { RedisAddress, RedisNode } from "./address.ts";
import { CONNECT_TIMEOUT_MS, type Connection, connectOnce, type Driver, drop } from "./connection.ts";
import { inTime } from "./in-time.ts";

/**
 * A connection to the primary, found as Sentinel requires: a sentinel names the server, and the server itself confirms
 * that it is the primary. Rejects while there is none; the caller tries again.
 *
 * The driver has a client for Sentinel, but it holds calls back while there is no primary, and sends them to the next
 * one long after their callers were refused. A lock taken that way has no owner.
 */
export async function connectPrimary(driver: Driver, address: RedisAddress): Promise<Connection> {
  // The first response wins, so that sentinels that are down cost no time. A stale one names a server that is gone or
  // isn't the primary any more.
  const answers = address.hosts.map((sentinel) => askSentinel(driver, address, sentinel));
  const node = await Promise.any(answers).catch(({ errors: [first] }: AggregateError) => Promise.reject(first));
  const connection = await connectOnce(driver, address, node);
  try {
    const [role] = await command<[string]>(connection, "ROLE");
    if (role !== "master") throw new Error(`${node.host}:${node.port} is not the primary any more`);
    return connection;
  } catch (error) {
    drop(connection);
    throw error;
  }
}

async function askSentinel(driver: Driver, { primary = "", ...address }: RedisAddress, sentinel: RedisNode) {
  // Sentinels have no databases, and users of their own. One without a password accepts any.
  const { username: _user, database: _database, ...login } = address;
  const connection = await connectOnce(driver, login, sentinel);
  try {
    const found = await command<[string, string] | null>(connection, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", primary);
    if (found === null)
      throw new Error(`the sentinel ${sentinel.host}:${sentinel.port} knows no primary named "${primary}"`);
    return { host: found[0], port: Number(found[1]) };
  } finally {
    drop(connection);
  }
}

const command = <Reply>(connection: Connection, ...words: string[]): Promise<Reply> =>
  inTime(connection.sendCommand(words) as Promise<unknown>, CONNECT_TIMEOUT_MS) as Promise<Reply>;
