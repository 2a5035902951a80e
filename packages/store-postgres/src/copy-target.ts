import { COPY_KINDS, type CopyCounts, type CopyTarget } from "@formbridge/core";
import { Client } from "pg";
import { connectionSettings } from "./database.ts";
import { type MigrationOptions, migrate, withClient } from "./migrate.ts";

/** Any number, the same in every FormBridge. */
const COPY_LOCK = 4_607_183;

const COUNTS = `SELECT ${COPY_KINDS.map((kind) => `(SELECT count(*) FROM formbridge.${kind}) AS ${kind}`).join(", ")}`;
const OTHERS = `SELECT count(*) AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'formbridge' AND pid <> pg_backend_pid()`;
const CONTINUE = "SELECT setval('formbridge.positions', greatest($1::bigint, 1), $1::bigint > 0)";

const totalOf = (counts: CopyCounts): number => Object.values(counts).reduce((total, count) => total + count, 0);

/** The database as the target of a copy, its schema brought up to date first. */
export async function openCopyTarget(options: MigrationOptions): Promise<CopyTarget> {
  await migrate(options);
  const client = new Client({
    ...connectionSettings({ ...options, statementTimeoutMs: 0, lockTimeoutMs: 0 }),
    query_timeout: 0,
  });
  client.on("error", () => {});
  await client.connect();
  const one = async <Row>(sql: string, values: unknown[] = []): Promise<Row> =>
    (await client.query(sql, values)).rows[0];
  const counts = async (): Promise<CopyCounts> => await one<CopyCounts>(COUNTS);
  let copied = "";

  async function refuseCompany(): Promise<void> {
    const { locked } = await one<{ locked: boolean }>("SELECT pg_try_advisory_lock($1) AS locked", [COPY_LOCK]);
    if (!locked) throw new Error("Another copy into the target is running.");
    if ((await one<{ count: number }>(OTHERS)).count > 0) {
      throw new Error("A server is connected to the target: stop it, and start it after the copy.");
    }
  }

  return {
    counts,
    async begin(fingerprint) {
      await refuseCompany();
      const known = await one<{ fingerprint: string; finished: boolean } | undefined>(
        "SELECT fingerprint, finished_at IS NOT NULL AS finished FROM formbridge.copies",
      );
      if (known !== undefined && known.fingerprint !== fingerprint) {
        throw new Error(
          known.finished
            ? "Another file was copied to the target before, or this one at another time: a copy needs an empty database."
            : "The target holds a part of a copy of another file, or of this one before it was changed: start with an empty database.",
        );
      }
      if (known === undefined) {
        if (totalOf(await counts()) > 0)
          throw new Error("The target has data of its own: a copy needs an empty database.");
        await client.query("INSERT INTO formbridge.copies (fingerprint) VALUES ($1)", [fingerprint]);
      }
      copied = fingerprint;
      return known?.finished === true ? "finished" : "unfinished";
    },
    async write(kind, rows) {
      const table = `formbridge.${kind}`;
      await client.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`, [
        JSON.stringify(rows),
      ]);
    },
    async finish(lastPosition) {
      await client.query("BEGIN");
      await client.query(CONTINUE, [lastPosition]);
      await client.query("UPDATE formbridge.copies SET finished_at = now() WHERE fingerprint = $1", [copied]);
      await client.query("COMMIT");
      await client.query("ANALYZE");
    },
    close: () => client.end(),
  };
}

/** Half a copy must not be served: who reads it misses things, and what they write is in the way of the rest. */
export function refuseUnfinishedCopy(options: MigrationOptions): Promise<void> {
  return withClient(options, async (client) => {
    const { rows } = await client.query("SELECT 1 FROM formbridge.copies WHERE finished_at IS NULL");
    if (rows.length > 0) {
      throw new Error("A copy into this database has not finished: run formbridge copy again, with the same --from.");
    }
  });
}
