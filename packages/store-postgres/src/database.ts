import { StoreDown } from "@formbridge/core";
import { Pool, type PoolClient, type PoolConfig, types } from "pg";
import { failedBefore, failedWrite, isUsable } from "./failures.ts";
import { runSized, type Value } from "./sized-query.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  url: string;
  /** Connections that this process opens at most, besides one for wake-ups. */
  poolSize: number;
  /** For a connection: a free one of the pool, or a new one. */
  connectTimeoutMs: number;
  /** For one statement, by the database itself. */
  statementTimeoutMs: number;
  /** For what another write holds: its key or its row. */
  lockTimeoutMs: number;
}

/** Prepared once on each connection, under its name. */
export interface Statement {
  name: string;
  text: string;
}

export interface Database {
  /** A statement that changes nothing. */
  read<Row extends object>(statement: Statement, values: readonly Value[]): Promise<Row[]>;
  /** A statement that is its own transaction. When it fails, the error says whether it may have happened all the same. */
  write<Row extends object>(statement: Statement, values: readonly Value[]): Promise<Row[]>;
  /**
   * Work that asks several times, or not at once, through the one that it is given: it counts as handed in from now on, and is
   * finished before the database closes.
   */
  handIn<Result>(work: (within: Pick<Database, "read" | "write">) => Promise<Result>): Promise<Result>;
  /** Finishes what was handed in; everything later is refused. */
  close(): Promise<void>;
}

/** What the network may take beyond the statement's own time. */
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
    // Every check of a commit must see what was committed before it, whatever the server's default is.
    options: "-c default_transaction_isolation=read\\ committed",
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? Number : types.getTypeParser(oid, format as "text"),
    },
  };
}

export function openDatabase({ poolSize, ...options }: PostgresOptions): Database {
  const pool = new Pool({ ...connectionSettings(options), max: poolSize });
  const running = new Set<Promise<unknown>>();
  let closed = false;
  // A connection that breaks is thrown away; who was using it is told by its statement.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));

  async function connected(): Promise<PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      throw failedBefore(error);
    }
  }

  async function run<Row extends object>(
    statement: Statement,
    values: readonly Value[],
    failed: (error: unknown) => StoreDown,
  ): Promise<Row[]> {
    const connection = await connected();
    try {
      const rows = await runSized<Row>(connection, statement, values);
      connection.release();
      return rows;
    } catch (error) {
      connection.release(!isUsable(error));
      throw failed(error);
    }
  }

  const within: Pick<Database, "read" | "write"> = {
    read: (statement, values) => run(statement, values.map(findable), failedBefore),
    write: (statement, values) => run(statement, values, failedWrite),
  };

  /** Work that waits for a connection counts as handed in: `pool.end` would forget it. */
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
    close: () => {
      closed = true;
      ending ??= end();
      return ending;
    },
  };
}

/** No column holds a NUL, so nothing has such a name: asked for, it is looked for in vain. */
const withoutNul = (text: string): string => text.replaceAll("\0", "\ufffd");

function findable(value: Value): Value {
  if (typeof value === "string") return withoutNul(value);
  return Array.isArray(value) ? value.map((text: string | null) => (text === null ? null : withoutNul(text))) : value;
}
