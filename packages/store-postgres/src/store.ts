import { type Change, type Committed, type Loaded, type LoadQuery, type Store, StoreDown } from "@formbridge/core";
import { DatabaseError } from "pg";
import { COMMIT_ARGUMENTS, commitValues } from "./commit-arguments.ts";
import type { Database, Statement } from "./database.ts";
import { type LoadedColumns, loadedOf, recordOf } from "./loaded-row.ts";

const LOAD_BY_TOKEN: Statement = {
  name: "load_by_token",
  text: "SELECT row_to_json(l) AS loaded FROM formbridge.load_by_token($1, $2, $3) AS l",
};
const LOAD_BY_ID: Statement = {
  name: "load_by_id",
  text: "SELECT row_to_json(l) AS loaded FROM formbridge.load_by_id($1, $2, $3, $4) AS l",
};
const LOAD_BY_SESSION: Statement = {
  name: "load_by_session",
  text: "SELECT row_to_json(l) AS loaded FROM formbridge.load_by_session($1, $2, $3) AS l",
};
const LOAD_BY_INTAKE: Statement = {
  name: "load_by_intake",
  text: "SELECT row_to_json(l) AS loaded FROM formbridge.load_by_intake($1, $2, $3) AS l",
};
const COMMIT: Statement = {
  name: "commit_change",
  text: `SELECT c.kind, c.at, CASE WHEN c.kind <> 'committed' THEN row_to_json(c.loaded) END AS loaded
    FROM formbridge.commit_change(${COMMIT_ARGUMENTS}) AS c`,
};

/** As one value: the driver's work grows with the columns of an answer, used or not. */
interface LoadedAnswer {
  loaded: LoadedColumns;
}
type CommittedColumns = { at: number } & (
  | { kind: "committed" | "too_late" }
  | ({ kind: "stale" | "key_taken" } & LoadedAnswer)
);

/** The deadline passed while the write waited for another one: it was undone, and its error tells the time. */
const TOO_LATE = "FB001";

/** Load and commit, one round trip each. */
export function createStore(db: Database): Store {
  async function load({ by, key }: LoadQuery): Promise<Loaded> {
    const keyed = [key?.operation ?? null, key?.hash ?? null] as const;
    const [statement, named] = asked(by);
    const [row] = await db.read<LoadedAnswer>(statement, [...named, ...keyed]);
    if (row === undefined) throw new StoreDown("the database gave no answer", "not_applied");
    return loadedOf(row.loaded, "token" in by ? by.token : undefined);
  }

  async function commit(change: Change): Promise<Committed> {
    try {
      const [row] = await db.write<CommittedColumns>(COMMIT, commitValues(change));
      if (row === undefined) throw new StoreDown("the database gave no answer", "unknown");
      return committedOf(row);
    } catch (error) {
      const cause = error instanceof StoreDown ? error.cause : undefined;
      if (cause instanceof DatabaseError && cause.code === TOO_LATE)
        return { kind: "too_late", now: Number(cause.detail) };
      throw error;
    }
  }

  return { load, commit };
}

function asked(by: LoadQuery["by"]): [Statement, string[]] {
  if ("token" in by) return [LOAD_BY_TOKEN, [by.token]];
  if ("session" in by) return [LOAD_BY_SESSION, [by.session]];
  if ("id" in by) return [LOAD_BY_ID, [by.tenant, by.id]];
  return [LOAD_BY_INTAKE, [by.intake]];
}

function committedOf(row: CommittedColumns): Committed {
  switch (row.kind) {
    case "committed":
      return { kind: "committed", at: row.at };
    case "too_late":
      return { kind: "too_late", now: row.at };
    case "stale":
      return { kind: "stale", loaded: loadedOf(row.loaded) };
    case "key_taken": {
      const record = recordOf(row.loaded);
      if (record === undefined) throw new StoreDown("the database told of no record", "not_applied");
      return { kind: "key_taken", record };
    }
  }
}
