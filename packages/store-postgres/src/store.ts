import type { Change, Loaded, LoadQuery, Store } from "@formbridge/core";
import type { Database } from "./database.ts";
import { answered, gatherQuestions, type Question } from "./gathered.ts";
import { createGroupCommit } from "./group-commit.ts";
import { LOAD_BY_ID, LOAD_BY_INTAKE, LOAD_BY_REVIEW_LINK, LOAD_BY_SESSION, LOAD_BY_TOKEN } from "./load-statements.ts";
import { type LoadedColumns, loadedOf } from "./loaded-row.ts";
import type { ReadCache } from "./read-cache.ts";

/** Load and commit, one round trip each, or a part of one that others are on. */
export function createStore(db: Database, cache: ReadCache): Store {
  const ask = {
    token: gatherQuestions<LoadedColumns>(db, LOAD_BY_TOKEN),
    id: gatherQuestions<LoadedColumns>(db, LOAD_BY_ID),
    session: gatherQuestions<LoadedColumns>(db, LOAD_BY_SESSION),
    intake: gatherQuestions<LoadedColumns>(db, LOAD_BY_INTAKE),
    reviewLink: gatherQuestions<LoadedColumns>(db, LOAD_BY_REVIEW_LINK),
  };

  async function load({ by, key }: LoadQuery): Promise<Loaded> {
    const keyed: Question = [key?.operation ?? null, key?.hash ?? null];
    if ("token" in by) return loadedOf(answered(await ask.token([by.token, ...keyed])), by.token);
    if ("session" in by) return loadedOf(answered(await ask.session([by.session, ...keyed])));
    if ("reviewLink" in by) return loadedOf(answered(await ask.reviewLink([by.reviewLink, ...keyed])));
    if ("id" in by) return loadedOf(answered(await ask.id([by.tenant, by.id, ...keyed])));
    if (key !== undefined) return loadedOf(answered(await ask.intake([by.intake, ...keyed])));
    const { now, value: definition } = await cache.get(`intake ${by.intake}`, () => definitionOf(by.intake));
    return { now, ...(definition !== undefined && { definition }) };
  }

  const definitionOf = async (intake: string): Promise<Loaded["definition"]> =>
    loadedOf(answered(await ask.intake([intake, null, null]))).definition;

  const current = ({ tenant, row }: Change) => load({ by: { id: row.submission.submissionId, tenant } });
  return { load, commit: createGroupCommit(db, current) };
}
