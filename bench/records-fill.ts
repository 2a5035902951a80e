import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { request } from "undici";
import { type BenchPostgres, startBenchPostgres } from "./cluster.ts";
import { sqliteColumns, syncFile } from "./fill.ts";
import { columnsOf, fillWithoutIndexes } from "./postgres-fill.ts";
import { ADMIN_KEY, startOurs } from "./server-process.ts";

/** Every fifth record is of the second intake: its export is a fifth of everything. */
export const INTAKES = ["theses", "reports"] as const;
export const FRACTION = 5;

export interface FilledStore {
  databaseUrl?: string;
  /** The id of a record; numbers grow with ids and times. */
  idOf(number: number): string;
  close(): Promise<void>;
}

const definitionOf = (id: string) => ({
  id,
  version: "1",
  name: `The ${id}`,
  access: "public",
  destination: { kind: "store" },
  schema: {
    type: "object",
    required: ["title"],
    properties: {
      title: { type: "string" },
      authors: { type: "array", items: { type: "string" } },
      year: { type: "integer" },
      degree: { type: "object", properties: { name: { type: "string" }, place: { type: "string" } } },
      note: { type: "string" },
    },
  },
  oai: { set: true, dc: { title: "title", creator: "authors", date: "year" }, fields: ["degree"] },
});

const FIELDS = {
  title: "On computable numbers & the rest",
  authors: ["Ada Lovelace", "Alan Turing"],
  year: 2024,
  degree: { name: "Dr. rer. nat.", place: "Cambridge" },
  note: "Not for harvesters.",
};

/** One finalized submission per intake, written by the product itself. */
async function writeTemplates(folder: string, databaseUrl?: string): Promise<void> {
  const server = await startOurs(folder, databaseUrl === undefined ? {} : { databaseUrl });
  const call = async (method: "PUT" | "POST", path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${ADMIN_KEY}` };
    const answer = await request(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const told = (await answer.body.json()) as Record<string, unknown>;
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(told)}`);
    return told;
  };
  try {
    for (const id of INTAKES) {
      await call("PUT", `/intakes/${id}`, definitionOf(id));
      const made = await call("POST", `/intakes/${id}/submissions`, { initialFields: FIELDS });
      const submitted = { idempotencyKey: `template-of-${id}-0123456789abcdef0123456789` };
      await call("POST", `/resume/${String(made.resumeToken)}/submit`, submitted);
    }
  } finally {
    await server.stop();
  }
}

/** Ids start like the first template's, so that their order is that of their numbers. */
const TAIL = 12;
const idsLike =
  (first: string) =>
  (number: number): string =>
    `${first.slice(0, -TAIL)}${number.toString(16).padStart(TAIL, "0")}`;

/** Each record has a title of its own. */
const numbered = (text: string): string => `replace(${text}, 'computable numbers', 'computable number ' || n.number)`;

/** The columns that differ between records, by their times: one millisecond apart, the last one now. */
const computedOf = (shift: (column: string) => string) => ({
  submissions: {
    submission_id: "n.id",
    created_at: shift("t.created_at"),
    ended_at: shift("t.ended_at"),
    doc: numbered("replace(t.doc, t.submission_id, n.id)"),
  },
  publications: { submission_id: "n.id", stamped_at: shift("t.stamped_at"), content: numbered("t.content") },
});

/** A file full of published submissions. */
async function fillFile(folder: string, records: number): Promise<FilledStore> {
  mkdirSync(folder, { recursive: true });
  await writeTemplates(folder);
  const file = join(folder, "formbridge.db");
  const db = new Sqlite(file);
  db.pragma("journal_mode = DELETE");
  db.pragma("synchronous = OFF");
  db.pragma("locking_mode = EXCLUSIVE");
  db.pragma("cache_size = -262144");
  const first =
    db.prepare<[], string>("SELECT submission_id FROM submissions ORDER BY sid LIMIT 1").pluck().get() ?? "";
  const prefix = first.slice(0, -TAIL);
  db.exec(`CREATE TEMP TABLE first_submissions AS SELECT * FROM submissions;
    CREATE TEMP TABLE first_publications AS SELECT * FROM publications;
    CREATE TEMP VIEW numbers AS
      WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < ${records - INTAKES.length})
      SELECT number, '${prefix}' || printf('%0${TAIL}x', number) AS id,
             iif(number % ${FRACTION} = 0, '${INTAKES[1]}', '${INTAKES[0]}') AS intake_id FROM n`);
  const made = computedOf((column) => `${column} - ${records} + n.number`);
  for (const table of ["submissions", "publications"] as const) {
    const columns = sqliteColumns(db, table);
    const values: Record<string, string> = { ...made[table], sid: "n.number + 2" };
    db.exec(`INSERT INTO ${table} (${columns.join(", ")})
      SELECT ${columns.map((name) => values[name] ?? `t.${name}`).join(", ")}
        FROM numbers AS n CROSS JOIN first_${table} AS t WHERE t.intake_id = n.intake_id`);
  }
  db.close();
  syncFile(file);
  return { idOf: idsLike(first), close: async () => {} };
}

/** The same on PostgreSQL. */
async function fillDatabase(folder: string, records: number): Promise<FilledStore> {
  mkdirSync(folder, { recursive: true });
  const postgres = await startBenchPostgres();
  try {
    const databaseUrl = await postgres.createDatabase("records");
    await writeTemplates(folder, databaseUrl);
    const first = await fillTables(postgres, databaseUrl, records);
    return { databaseUrl, idOf: idsLike(first), close: () => postgres.stop() };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

async function fillTables(postgres: BenchPostgres, databaseUrl: string, records: number): Promise<string> {
  const [row] = await postgres.run(databaseUrl, "SELECT min(submission_id) AS id FROM formbridge.submissions");
  const first = String(row?.id);
  const made = computedOf((column) => `${column} - ${records} + n.number`);
  const tables = ["submissions", "publications"] as const;
  const inserts: string[] = [];
  for (const table of tables) {
    const columns = await columnsOf(postgres, databaseUrl, table);
    const values: Record<string, string> = made[table];
    inserts.push(`INSERT INTO formbridge.${table} (${columns.join(", ")})
      SELECT ${columns.map((name) => values[name] ?? `t.${name}`).join(", ")}
        FROM (SELECT n AS number, '${first.slice(0, -TAIL)}' || lpad(to_hex(n), ${TAIL}, '0') AS id,
                     CASE WHEN n % ${FRACTION} = 0 THEN '${INTAKES[1]}' ELSE '${INTAKES[0]}' END AS intake_id
                FROM generate_series(1, ${records - INTAKES.length}) AS n) AS n
        JOIN first_${table} AS t ON t.intake_id = n.intake_id ORDER BY n.number`);
  }
  const copies = tables.map((name) => `CREATE TEMP TABLE first_${name} AS SELECT * FROM formbridge.${name}`);
  await fillWithoutIndexes(postgres, databaseUrl, { tables, fill: [...copies, ...inserts].join(";\n") });
  return first;
}

export const FILLS = { embedded: fillFile, postgres: fillDatabase };
