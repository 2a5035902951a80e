import type { SealedKind, SealedRow, SealedRows } from "@formbridge/core";
import { type ColumnOf, computed, TABLES } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { type Statement, sql, statement } from "./sql.ts";

interface Place<Kind extends SealedKind> {
  /** The primary key. */
  key: readonly ColumnOf<(typeof TABLES)[Kind]>[];
  /** The columns with sealed values, or with what these are bound to. */
  texts: readonly ColumnOf<(typeof TABLES)[Kind]>[];
}

const PLACES: { [Kind in SealedKind]: Place<Kind> } = {
  submissions: { key: ["submission_id"], texts: ["sealed_token", "sealed_fields", "doc"] },
  records: { key: ["tenant", "intake_id", "operation", "hash"], texts: ["tenant", "submission_id", "answer"] },
  handoffs: { key: ["handoff_id"], texts: ["doc"] },
  webhooks: { key: ["webhook_id"], texts: ["doc"] },
  definitions: { key: ["digest"], texts: ["digest", "definition"] },
};

const numbered = (names: readonly string[], from: number): string =>
  names.map((_, index) => `$${index + from}`).join(", ");

type Columns = Record<string, string | null>;

function pageOf(kind: SealedKind): Statement<Columns> {
  const { key, texts } = PLACES[kind];
  const columns = computed<Columns>([...new Set([...key, ...texts])].join(", "));
  return statement(
    `sealed_${kind}`,
    sql`SELECT ${columns} FROM ${TABLES[kind]} WHERE (${key.join(", ")}) > (${numbered(key, 2)})
      ORDER BY ${key.join(", ")} LIMIT $1`,
  );
}

/** Sets all sealed columns, even unchanged ones, so that one statement per kind is enough. */
function replaceOf(kind: SealedKind): Statement<object> {
  const { key, texts } = PLACES[kind];
  const as = (operator: string, from: number) => (name: string, index: number) =>
    `${name} ${operator} $${index + from}`;
  const sets = texts.map(as("=", 1)).join(", ");
  const isRow = key.map(as("=", texts.length + 1));
  const isSame = texts.map(as("IS NOT DISTINCT FROM", texts.length + key.length + 1));
  const conditions = [...isRow, ...isSame].join(" AND ");
  return statement(
    `replace_sealed_${kind}`,
    sql`UPDATE ${TABLES[kind]} SET ${sets} WHERE ${conditions} RETURNING 1 AS replaced`,
  );
}

export function createSealedRows(db: Database): SealedRows {
  return {
    async page(kind, limit, after) {
      const { key, texts } = PLACES[kind];
      const start = after?.key ?? key.map(() => "");
      const rows = await db.read(pageOf(kind), [limit, ...start]);
      return rows.map(
        (row): SealedRow => ({
          kind,
          key: key.map((name) => row[name] ?? ""),
          texts: Object.fromEntries(texts.map((name) => [name, row[name] ?? null])),
        }),
      );
    },
    async replace({ kind, key, texts }, next) {
      const names = PLACES[kind].texts;
      const before = names.map((name) => texts[name] ?? null);
      const after = names.map((name) => next[name] ?? texts[name] ?? null);
      return (await db.write(replaceOf(kind), [...after, ...key, ...before])).length === 1;
    },
  };
}
