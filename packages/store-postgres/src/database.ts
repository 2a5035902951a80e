import { CallRefused, StoreDown } from "@formbridge/core";
import { type ClientBase, Pool, type PoolClient, type PoolConfig, types } from "pg";
import { failedBefore, failedWrite, isUsable } from "./failures.ts";
import type { Statement } from "./sql.ts";

export type Value = string | number | boolean | null | readonly (string | number)[];

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  url: string;
  /** The most connections that this process opens, besides one for notifications. */
  poolSize: number;
  /** How long to wait for a free or new connection. */
  connectTimeoutMs: number;
  /** Enforced by the database on every statement. */
  statementTimeoutMs: number;
  /** How long to wait for a key or a row that another write holds. */
  lockTimeoutMs: number;
  /** Called when a call finds every connection in use, and has to wait for one. */
  onExhausted?: () => void;
}

export interface Database {
  /** A statement that changes nothing. */
  read<Row extends object>(statement: Statement<Row>, values: readonly Value[]): Promise<Row[]>;
  /** A statement that is its own transaction. When it fails, the error says whether it may have been applied. */
  write<Row extends object>(statement: Statement<Row>, values: readonly Value[]): Promise<Row[]>;
  /**
   * Work of several statements, or one that doesn't start at once. It counts as handed in from now on: `close` waits for it.
   */
  handIn<Result>(work: (within: Pick<Database, "read" | "write">) => Promise<Result>): Promise<Result>;
  /** The last write failed because of the database: reads that succeed are then no sign of health. */
  isFailing(): boolean;
  connectionsInUse(): number;
  /** Finishes what was handed in; later calls are refused. */
  close(): Promise<void>;
}

/** Allowed for the network beyond the statement's own timeout. */
const ON_THE_WAY_MS = 2_000;
const INT8 = 20;

export function connectionSettings(options: Omit<PostgresOptions, "poolSize">): PoolConfig {
  return {
    connectionString: options.url,
    application_name: "formbridge",
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs,
    query_timeout: options.statementTimeoutMs + ON_THE_WAY_MS,
    keepAlive: true,
    // Every check of a commit must see what was committed before it, whatever the server's default is. Every statement finds its rows
    // by an index: the plan for an empty table, a scan of all of it, would be kept while the table grows. Plans are small: compiling them
    // (`jit`) costs many times what it saves.
    options: "-c default_transaction_isolation=read\\ committed -c enable_seqscan=off -c jit=off",
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? Number : types.getTypeParser(oid, format as "text"),
    },
  };
}

/**
 * An acknowledged commit must be on disk. A role, database or server may say otherwise (`synchronous_commit = off`), so every
 * connection that writes sets it for itself; the stronger `remote_apply` is kept.
 */
export async function makeDurable(client: ClientBase): Promise<void> {
  await client.query(
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'",
  );
}

export function openDatabase({ poolSize, onExhausted, ...options }: PostgresOptions): Database {
  const pool = new Pool({ ...connectionSettings(options), max: poolSize, onConnect: makeDurable });
  const running = new Set<Promise<unknown>>();
  let closed = false;
  const lost = new WeakSet<ClientBase>();
  // A connection that breaks is discarded; the statement that was using it fails.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => lost.add(client)));

  /** Never one that is known to be lost: a statement that fails on it was not sent, and the driver's error doesn't say so. */
  async function connected(): Promise<PoolClient> {
    if (pool.idleCount === 0 && pool.totalCount >= poolSize) onExhausted?.();
    try {
      const connection = await pool.connect();
      if (!lost.has(connection)) return connection;
      connection.release(true);
    } catch (error) {
      throw failedBefore(error);
    }
    return await connected();
  }

  async function run<Row extends object>(
    statement: Statement<Row>,
    values: readonly Value[],
    failed: (error: unknown) => StoreDown,
  ): Promise<Row[]> {
    const connection = await connected();
    try {
      const { rows } = await connection.query<Row>({ name: statement.name, text: statement.text, values: [...values] });
      connection.release();
      return rows;
    } catch (error) {
      connection.release(!isUsable(error));
      throw failed(error);
    }
  }

  let lastWriteFailed = false;
  async function write<Row extends object>(statement: Statement<Row>, values: readonly Value[]): Promise<Row[]> {
    try {
      const rows = await run<Row>(statement, values, failedWrite);
      lastWriteFailed = false;
      return rows;
    } catch (error) {
      if (!(error instanceof CallRefused)) lastWriteFailed = true;
      throw error;
    }
  }

  const within: Pick<Database, "read" | "write"> = {
    read: (statement, values) => run(statement, values.map(findable), failedBefore),
    write,
  };

  /** Tracked here because `pool.end` drops work that still waits for a connection. */
  async function handIn<Result>(work: (through: typeof within) => Promise<Result>): Promise<Result> {
    if (closed) throw new StoreDown("the database is closed", "not_applied");
    const answer = work(within);
    running.add(answer);
    try {
      return await answer;
    } finally {
      running.delete(answer);
    }
  }

  let ending: Promise<void> | undefined;
  async function end(): Promise<void> {
    await Promise.allSettled(running);
    await pool.end();
  }

  return {
    read: (statement, values) => handIn(() => within.read(statement, values)),
    write: (statement, values) => handIn(() => within.write(statement, values)),
    handIn,
    isFailing: () => lastWriteFailed,
    connectionsInUse: () => pool.totalCount - pool.idleCount,
    close: () => {
      closed = true;
      ending ??= end();
      return ending;
    },
  };
}

/** No column holds a NUL or half a surrogate pair, so nothing has such a name: a search for it must find nothing, not fail. */
export const findableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

function findable(value: Value): Value {
  if (typeof value === "string") return findableText(value);
  return Array.isArray(value) ? value.map((item) => (typeof item === "string" ? findableText(item) : item)) : value;
}
