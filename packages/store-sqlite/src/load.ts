import type { Hash, Instant, KeyRef, Loaded, LoadQuery } from "@formbridge/core";
import { intakes, snapshotOf, submissions, tokenOf } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { createHandoffFinder } from "./handoffs.ts";
import type { ReadCache } from "./read-cache.ts";
import { createRecordFinder } from "./records.ts";
import { createReviewLinkFinder } from "./review-links.ts";
import { pick, prepare, sql } from "./sql.ts";
import { BY_HASH, TOKEN } from "./tokens.ts";

const SNAPSHOT = pick(submissions, "s", "doc", "sealed_fields", "sealed_token");

export function createLoader(db: Database, now: () => Instant, cache: ReadCache): (query: LoadQuery) => Loaded {
  // Token and row in one statement, so that both are read from the same snapshot.
  const byToken = prepare(db, sql`SELECT ${SNAPSHOT}, ${TOKEN} WHERE ${BY_HASH}`);
  const byId = prepare(db, sql`SELECT ${SNAPSHOT} FROM ${submissions} AS s WHERE s.submission_id = ? AND s.tenant = ?`);
  const byIntake = prepare(
    db,
    sql`SELECT ${pick(intakes, "i", "digest", "tenant", "retired")} FROM ${intakes} AS i WHERE i.id = ?`,
  );
  const findHandoff = createHandoffFinder(db);
  const findReviewLink = createReviewLinkFinder(db);
  const findRecord = createRecordFinder(db);

  function withRecord(loaded: Loaded, scope: { tenant: string; intakeId: string }, key: KeyRef | undefined): Loaded {
    const record = key && findRecord({ tenant: scope.tenant, intakeId: scope.intakeId, ...key }, loaded.now);
    if (record !== undefined) loaded.record = record;
    return loaded;
  }

  function loadByToken(hash: Hash, key: KeyRef | undefined): Loaded {
    const found = byToken.get(hash, hash);
    if (found === undefined) return { now: now() };
    const submission = snapshotOf(found);
    return withRecord({ now: now(), submission, presented: tokenOf(found) }, submission.submission, key);
  }

  function loadById(id: string, tenant: string, key: KeyRef | undefined): Loaded {
    const found = byId.get(id, tenant);
    if (found === undefined) return { now: now() };
    const submission = snapshotOf(found);
    return withRecord({ now: now(), submission }, submission.submission, key);
  }

  function loadBySession(hash: Hash, key: KeyRef | undefined): Loaded {
    const handoff = findHandoff(hash);
    return handoff === undefined ? { now: now() } : { ...loadById(handoff.submissionId, handoff.tenant, key), handoff };
  }

  function loadByReviewLink(hash: Hash): Loaded {
    const link = findReviewLink(hash);
    return link === undefined ? { now: now() } : { ...loadById(link.submissionId, link.tenant, undefined), link };
  }

  function loadByIntake(id: string, key: KeyRef | undefined): Loaded {
    const found = cache.get(`intake ${id}`, () => byIntake.get(id));
    if (found === undefined) return { now: now() };
    const { digest, tenant } = found;
    const loaded: Loaded = found.retired ? { now: now() } : { now: now(), definition: { digest, tenant } };
    return withRecord(loaded, { tenant, intakeId: id }, key);
  }

  return ({ by, key }) => {
    if ("token" in by) return loadByToken(by.token, key);
    if ("session" in by) return loadBySession(by.session, key);
    if ("reviewLink" in by) return loadByReviewLink(by.reviewLink);
    if ("id" in by) return loadById(by.id, by.tenant, key);
    return loadByIntake(by.intake, key);
  };
}
