import { CallRefused, StoreDown } from "@formbridge/core";
import { type Statement, storable } from "@formbridge/store-sql";
import { type ClientBase, Pool, type PoolClient, type PoolConfig, types } from "pg";
import { failedBefore, failedWrite, isUsable } from "./failures.ts";

export type Value = string | number | boolean | null | readonly (string | number)[];

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  url: string;
  /** Around a pooler in transaction mode, to which `url` leads then: for notifications, migrations and session locks. */
  directUrl?: string;
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
   * Work of several statements, or one that starts later. `close` waits for it.
   */
  handIn<Result>(work: (within: Pick<Database, "read" | "write">) => Promise<Result>): Promise<Result>;
  /** The last write failed because of the database, so a successful read doesn't prove that it is healthy. */
  isFailing(): boolean;
  connectionsInUse(): number;
  /** Finishes pending work; later calls are refused. */
  close(): Promise<void>;
}

/** Allowed for the network beyond the statement's own timeout. */
const ON_THE_WAY_MS = 2_000;
const INT8 = 20;

export function connectionSettings(options: Omit<PostgresOptions, "poolSize">): PoolConfig {
  return {
    connectionString: options.directUrl ?? options.url,
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

/** What a session sets doesn't last in a pooler that changes connections between transactions: there, the pooler has to set it. */
async function expectDurable(client: ClientBase): Promise<void> {
  const { rows } = await client.query(`SELECT current_setting('synchronous_commit') IN ('on', 'remote_apply')
    AND current_setting('transaction_isolation') = 'read committed' AS durable`);
  if (rows[0]?.durable === true) return;
  throw new Error(
    "The pooler's connections must have synchronous_commit = on and default_transaction_isolation = 'read committed'. " +
      "Set both in PgBouncer's connect_query, or with ALTER ROLE.",
  );
}

export function openDatabase({ poolSize, onExhausted, directUrl, ...options }: PostgresOptions): Database {
  const isPooled = directUrl !== undefined;
  const { statement_timeout, lock_timeout, options: parameters, ...shared } = connectionSettings(options);
  // A pooler refuses parameters that it can't track, and forgets prepared statements.
  const own = isPooled ? {} : { statement_timeout, lock_timeout, options: parameters };
  const pool = new Pool({ ...shared, ...own, max: poolSize, onConnect: isPooled ? expectDurable : makeDurable });
  const running = new Set<Promise<unknown>>();
  let closed = false;
  const lost = new WeakSet<ClientBase>();
  // A connection that breaks is discarded; the statement that was using it fails.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => lost.add(client)));

  /** Never returns a connection known to be lost: the driver's error wouldn't say that the statement was never sent. */
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
      const { rows } = await connection.query<Row>({
        ...(isPooled ? {} : { name: statement.name }),
        text: statement.text,
        values: [...values],
      });
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

/** A lookup by a name that no column can hold must find nothing instead of failing. */
function findable(value: Value): Value {
  if (typeof value === "string") return storable(value);
  return Array.isArray(value) ? value.map((item) => (typeof item === "string" ? storable(item) : item)) : value;
}
