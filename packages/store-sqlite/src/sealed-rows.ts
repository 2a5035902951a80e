import type { SealedKind, SealedRow, SealedRows } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { Writer } from "./writer.ts";

interface Place {
  /** Identifies a row; `first` sorts before all of them. */
  key: string;
  first: string | number;
  /** The columns that hold sealed values. */
  texts: readonly string[];
  /** What the sealed values are bound to, if it is in another table. */
  bound?: string;
}

const PLACES: Record<SealedKind, Place> = {
  submissions: { key: "submission_id", first: "", texts: ["sealed_token", "sealed_fields", "doc"] },
  records: {
    key: "record_id",
    first: 0,
    texts: ["answer"],
    bound: "tenant, (SELECT s.submission_id FROM submissions AS s WHERE s.sid = records.sid) AS submission_id",
  },
  handoffs: { key: "handoff_id", first: "", texts: ["doc"] },
  webhooks: { key: "webhook_id", first: "", texts: ["doc"] },
  definitions: { key: "rowid", first: 0, texts: ["definition"], bound: "lower(hex(digest)) AS digest" },
};

export function createSealedRows(db: Database, writer: Writer): SealedRows {
  return {
    page: (kind, limit, after) =>
      answer(() => {
        const { key, first, texts, bound } = PLACES[kind];
        const columns = [key, ...texts, ...(bound === undefined ? [] : [bound])].join(", ");
        const rows = db
          .prepare<[string | number, number], Record<string, string | number | null>>(
            `SELECT ${columns} FROM ${kind} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`,
          )
          .all(after?.key[0] ?? first, limit);
        return rows.map(
          ({ [key]: name, ...found }): SealedRow => ({
            kind,
            key: [name ?? first],
            texts: found as SealedRow["texts"],
          }),
        );
      }),
    replace: ({ kind, key, texts }, next) =>
      writer.write(() => {
        const { key: name, texts: names } = PLACES[kind];
        const sets = names.map((column) => `${column} = ?`).join(", ");
        const same = names.map((column) => `${column} IS ?`).join(" AND ");
        const before = names.map((column) => texts[column] ?? null);
        const after = names.map((column) => next[column] ?? texts[column] ?? null);
        const replace = db.prepare(`UPDATE ${kind} SET ${sets} WHERE ${name} = ? AND ${same}`);
        return replace.run(...after, key[0], ...before).changes === 1;
      }),
  };
}
