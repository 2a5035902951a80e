import { COPY_KINDS, type CopyCounts, type CopyTarget, columnsOf, TABLES, type Table } from "@formbridge/store-sql";
import { Client, type QueryResult } from "pg";
import { connectionSettings, makeDurable } from "./database.ts";
import { isUsable, reasonOf } from "./failures.ts";
import { type MigrationOptions, migrate, withClient } from "./migrate.ts";

/** An arbitrary number, the same in every FormBridge. */
const COPY_LOCK = 4_607_183;

const COUNTS = `SELECT ${COPY_KINDS.map((kind) => `(SELECT count(*) FROM formbridge.${kind}) AS ${kind}`).join(", ")}`;
const OTHERS = `SELECT count(*) AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'formbridge' AND pid <> pg_backend_pid()`;
const CONTINUE = "SELECT setval('formbridge.positions', greatest($1::bigint, 1), $1::bigint > 0)";

/** Secret checks are not data: any command writes one, before anything is sealed. */
const totalOf = ({ secret_checks: _, ...counts }: CopyCounts): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** Pages that were written stay written when the connection is lost. */
function interrupted(error: unknown): unknown {
  if (isUsable(error)) return error;
  return new Error(
    `The copy was interrupted: the target can't be reached (${reasonOf(error)}). What was copied so far is kept: run the same ` +
      "command again to continue.",
    { cause: error },
  );
}

/** The database as the target of a copy, its schema brought up to date first. */
export async function openCopyTarget(options: MigrationOptions): Promise<CopyTarget> {
  await migrate(options);
  const client = new Client({
    ...connectionSettings({ ...options, statementTimeoutMs: 0, lockTimeoutMs: 0 }),
    query_timeout: 0,
  });
  client.on("error", () => {});
  await client.connect();
  await makeDurable(client);
  async function ask(sql: string, values: unknown[] = []): Promise<QueryResult> {
    try {
      return await client.query(sql, values);
    } catch (error) {
      throw interrupted(error);
    }
  }
  const one = async <Row>(sql: string, values: unknown[] = []): Promise<Row> => (await ask(sql, values)).rows[0];
  const counts = async (): Promise<CopyCounts> => await one<CopyCounts>(COUNTS);
  let copied = "";

  async function refuseCompany(): Promise<void> {
    const { locked } = await one<{ locked: boolean }>("SELECT pg_try_advisory_lock($1) AS locked", [COPY_LOCK]);
    if (!locked) throw new Error("Another copy into the target is running. Wait until it has finished.");
    if ((await one<{ count: number }>(OTHERS)).count > 0) {
      throw new Error("A server is connected to the target. Stop it, and start it again after the copy.");
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
            ? "The target contains a copy of another file, or of an earlier state of this one, but a copy needs an empty database."
            : "The target contains part of a copy of another file, or of an earlier state of this one. Start with an empty database.",
        );
      }
      if (known === undefined) {
        if (totalOf(await counts()) > 0)
          throw new Error("The target has data of its own, but a copy needs an empty database.");
        await ask("DELETE FROM formbridge.secret_checks");
        await ask("INSERT INTO formbridge.copies (fingerprint) VALUES ($1)", [fingerprint]);
      }
      copied = fingerprint;
      return known?.finished === true ? "finished" : "unfinished";
    },
    async write(kind, rows) {
      const [table, columns] = [`formbridge.${kind}`, columnsOf<Table>(TABLES[kind]).join(", ")];
      await ask(
        `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`,
        [JSON.stringify(rows)],
      );
    },
    async finish(lastPosition) {
      await ask("BEGIN");
      await ask(CONTINUE, [lastPosition]);
      await ask("UPDATE formbridge.copies SET finished_at = now() WHERE fingerprint = $1", [copied]);
      await ask("COMMIT");
      await ask("ANALYZE");
    },
    // A lost connection has ended already.
    close: () => client.end().catch(() => {}),
  };
}

/** A half-finished copy must not be served: reads would miss data, and writes would collide with the rest of the copy. */
export function refuseUnfinishedCopy(options: MigrationOptions): Promise<void> {
  return withClient(options, async (client) => {
    const { rows } = await client.query("SELECT 1 FROM formbridge.copies WHERE finished_at IS NULL");
    if (rows.length > 0) {
      throw new Error("A copy into this database has not finished. Run formbridge copy again, with the same --from.");
    }
  });
}
