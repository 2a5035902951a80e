import type { Hash, Instant, KeyRef, Loaded, LoadQuery, Snapshot, TokenRow } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { createHandoffFinder } from "./handoffs.ts";
import type { ReadCache } from "./read-cache.ts";
import { createReviewLinkFinder } from "./review-links.ts";
import { type RowCache, type RowTexts, snapshotOf } from "./row-cache.ts";
import { BY_HASH, ROTATED_AT } from "./tokens.ts";
import type { FindRecord } from "./writer/records.ts";
import { headAndHash } from "./writer/tokens.ts";

type PresentedColumns = [
  sid: number,
  submissionId: string,
  version: number,
  epoch: number,
  issuedAt: number,
  expiresAt: number,
  rotatedAt: number | null,
];

interface Sources {
  findRecord: FindRecord;
  now: () => Instant;
  cache: ReadCache;
  /** Absent where only the database is to be believed: after a commit that was refused for what it found there. */
  rows?: RowCache;
}

/** What the database would answer for a current token: all of it stands in the row. */
function byCurrentToken(snapshot: Snapshot, hash: Hash, now: Instant): Loaded {
  const { submissionId, tenant, intakeId, version, epoch, token } = snapshot.submission;
  const { issuedAt, expiresAt } = token;
  const presented = { hash, submissionId, tenant, intakeId, version, epoch, issuedAt, expiresAt };
  return { now, submission: snapshot, presented };
}

export function createLoader(db: Database, { findRecord, now, cache, rows }: Sources): (query: LoadQuery) => Loaded {
  const byToken = db
    .prepare<[number, string], PresentedColumns>(
      `SELECT t.sid, s.submission_id, t.version, t.epoch, t.issued_at, t.expires_at, ${ROTATED_AT}
       FROM tokens AS t JOIN submissions AS s ON s.sid = t.sid WHERE ${BY_HASH}`,
    )
    .raw();
  const byId = db
    .prepare<[string, string], number>("SELECT sid FROM submissions WHERE submission_id = ? AND tenant = ?")
    .pluck();
  const bySid = db.prepare<[number], RowTexts>(
    "SELECT sealed_token AS sealedToken, sealed_fields AS sealedFields, doc FROM submissions WHERE sid = ?",
  );
  const byIntake = db.prepare<[string], { digest: Hash; tenant: string; retired: number }>(
    "SELECT digest, tenant, retired FROM intakes WHERE id = ?",
  );

  const findHandoff = createHandoffFinder(db);
  const findReviewLink = createReviewLinkFinder(db);

  function withRecord(loaded: Loaded, scope: { tenant: string; intakeId: string }, key: KeyRef | undefined): Loaded {
    const record = key && findRecord({ ...scope, operation: key.operation, hash: key.hash }, loaded.now);
    if (record !== undefined) loaded.record = record;
    return loaded;
  }

  function snapshot(sid: number): Snapshot {
    const found = bySid.get(sid);
    if (found === undefined) throw new Error("a submission is gone");
    return rows === undefined ? snapshotOf(found) : rows.read(found);
  }

  function loadByToken(hash: Hash, key: KeyRef | undefined): Loaded {
    const known = rows?.byToken(hash);
    if (known !== undefined) return withRecord(byCurrentToken(known, hash, now()), known.submission, key);
    const found = byToken.get(...headAndHash(hash));
    if (found === undefined) return { now: now() };
    const submission = rows?.byId(found[1]) ?? snapshot(found[0]);
    const { submissionId, tenant, intakeId } = submission.submission;
    const presented: TokenRow = {
      hash,
      submissionId,
      tenant,
      intakeId,
      version: found[2],
      epoch: found[3],
      issuedAt: found[4],
      expiresAt: found[5],
    };
    if (found[6] !== null) presented.rotatedAt = found[6];
    return withRecord({ now: now(), submission, presented }, submission.submission, key);
  }

  function loadById(id: string, tenant: string, key: KeyRef | undefined): Loaded {
    const known = rows?.byId(id);
    const found = known === undefined ? byId.get(id, tenant) : undefined;
    const submission = known ?? (found === undefined ? undefined : snapshot(found));
    if (submission === undefined || submission.submission.tenant !== tenant) return { now: now() };
    return withRecord({ now: now(), submission }, submission.submission, key);
  }

  function loadBySession(hash: Hash, key: KeyRef | undefined): Loaded {
    const handoff = findHandoff(hash);
    if (handoff === undefined) return { now: now() };
    return { ...loadById(handoff.submissionId, handoff.tenant, key), handoff };
  }

  function loadByReviewLink(hash: Hash): Loaded {
    const link = findReviewLink(hash);
    if (link === undefined) return { now: now() };
    return { ...loadById(link.submissionId, link.tenant, undefined), link };
  }

  function loadByIntake(id: string, key: KeyRef | undefined): Loaded {
    const found = cache.get(`intake ${id}`, () => byIntake.get(id));
    if (found === undefined) return { now: now() };
    const { digest, tenant, retired } = found;
    const loaded: Loaded = retired === 1 ? { now: now() } : { now: now(), definition: { digest, tenant } };
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
