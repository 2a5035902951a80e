import type { Loaded, LoadQuery, ReviewLink, Store } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";
import { answered, gatherQuestions, type Question } from "./gathered.ts";
import { createGroupCommit } from "./group-commit.ts";
import { type LoadedColumns, loadedOf } from "./loaded-row.ts";
import { LOAD_BY_REVIEW_LINK } from "./review-links.ts";

const call = (name: string, values: readonly string[]): Statement => ({
  name,
  text: `SELECT q.place, row_to_json(formbridge.${name}(${values.map((value) => `q.${value}`).join(", ")})) AS loaded
    FROM unnest(${values.map((_, index) => `$${index + 1}::text[]`).join(", ")})
      WITH ORDINALITY AS q (${values.join(", ")}, place)`,
});
const LOAD_BY_TOKEN = call("load_by_token", ["token", "operation", "hash"]);
const LOAD_BY_ID = call("load_by_id", ["tenant", "id", "operation", "hash"]);
const LOAD_BY_SESSION = call("load_by_session", ["session", "operation", "hash"]);
const LOAD_BY_INTAKE = call("load_by_intake", ["intake", "operation", "hash"]);

/** As one value: the driver's work grows with the columns of an answer, used or not. */
interface LoadedAnswer {
  loaded: LoadedColumns;
}
interface LinkAnswer extends LoadedAnswer {
  link: string | null;
}

/** Load and commit, one round trip each, or a part of one that others are on. */
export function createStore(db: Database): Store {
  const ask = {
    token: gatherQuestions<LoadedAnswer>(db, LOAD_BY_TOKEN),
    id: gatherQuestions<LoadedAnswer>(db, LOAD_BY_ID),
    session: gatherQuestions<LoadedAnswer>(db, LOAD_BY_SESSION),
    intake: gatherQuestions<LoadedAnswer>(db, LOAD_BY_INTAKE),
    reviewLink: gatherQuestions<LinkAnswer>(db, LOAD_BY_REVIEW_LINK),
  };

  async function load({ by, key }: LoadQuery): Promise<Loaded> {
    const keyed: Question = [key?.operation ?? null, key?.hash ?? null];
    if ("token" in by) return loadedOf(answered(await ask.token([by.token, ...keyed])).loaded, by.token);
    if ("session" in by) return loadedOf(answered(await ask.session([by.session, ...keyed])).loaded);
    if ("reviewLink" in by) return withLink(answered(await ask.reviewLink([by.reviewLink])));
    if ("id" in by) return loadedOf(answered(await ask.id([by.tenant, by.id, ...keyed])).loaded);
    return loadedOf(answered(await ask.intake([by.intake, ...keyed])).loaded);
  }

  return { load, commit: createGroupCommit(db) };
}

function withLink({ loaded, link }: LinkAnswer): Loaded {
  const found = loadedOf(loaded);
  return link === null ? found : { ...found, link: JSON.parse(link) as ReviewLink };
}
