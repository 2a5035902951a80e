import type { Hash, Instant, KeyRef, Loaded, LoadQuery, Snapshot, TokenRow } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import type { ReadCache } from "./read-cache.ts";
import type { Records } from "./records.ts";
import type { RowCache } from "./row-cache.ts";
import { rowOf } from "./submission-rows.ts";
import { ROTATED_AT } from "./tokens.ts";

type SnapshotColumns = [sealedToken: string, sealedFields: string | null, doc: string];
type PresentedColumns = [
  sid: number,
  submissionId: string,
  revision: number,
  version: number,
  epoch: number,
  issuedAt: number,
  expiresAt: number,
  rotatedAt: number | null,
];

interface Sources {
  records: Records;
  now: () => Instant;
  cache: ReadCache;
  rows: RowCache;
}

export function createLoader(db: Database, { records, now, cache, rows }: Sources): (query: LoadQuery) => Loaded {
  const byToken = db
    .prepare<[string], PresentedColumns>(
      `SELECT t.sid, s.submission_id, s.revision, t.version, t.epoch, t.issued_at, t.expires_at, ${ROTATED_AT}
       FROM tokens AS t JOIN submissions AS s ON s.sid = t.sid WHERE t.hash = ?`,
    )
    .raw();
  const byId = db
    .prepare<[string, string], [sid: number, revision: number]>(
      "SELECT sid, revision FROM submissions WHERE submission_id = ? AND tenant = ?",
    )
    .raw();
  const bySid = db
    .prepare<[number], SnapshotColumns>("SELECT sealed_token, sealed_fields, doc FROM submissions WHERE sid = ?")
    .raw();
  const byIntake = db.prepare<[string], { digest: Hash; tenant: string; retired: number }>(
    "SELECT digest, tenant, retired FROM intakes WHERE id = ?",
  );

  function withRecord(loaded: Loaded, scope: { tenant: string; intakeId: string }, key: KeyRef | undefined): Loaded {
    const record = key && records.find({ ...scope, operation: key.operation, hash: key.hash }, loaded.now);
    if (record !== undefined) loaded.record = record;
    return loaded;
  }

  /** The row as it is now: from memory when nobody has written it since, parsed anew otherwise. */
  function snapshot(sid: number, submissionId: string, revision: number): Snapshot {
    const known = rows.get(submissionId, revision);
    if (known !== undefined) return known;
    const found = bySid.get(sid);
    if (found === undefined) throw new Error("a submission is gone");
    const read = { ...rowOf(found[2], found[1]), sealedToken: found[0] };
    rows.put(read);
    return read;
  }

  function loadByToken(hash: Hash, key: KeyRef | undefined): Loaded {
    const found = byToken.get(hash);
    if (found === undefined) return { now: now() };
    const submission = snapshot(found[0], found[1], found[2]);
    const { submissionId, tenant, intakeId } = submission.submission;
    const presented: TokenRow = {
      hash,
      submissionId,
      tenant,
      intakeId,
      version: found[3],
      epoch: found[4],
      issuedAt: found[5],
      expiresAt: found[6],
    };
    if (found[7] !== null) presented.rotatedAt = found[7];
    return withRecord({ now: now(), submission, presented }, submission.submission, key);
  }

  function loadById(id: string, tenant: string, key: KeyRef | undefined): Loaded {
    const found = byId.get(id, tenant);
    if (found === undefined) return { now: now() };
    const submission = snapshot(found[0], id, found[1]);
    return withRecord({ now: now(), submission }, submission.submission, key);
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
    if ("id" in by) return loadById(by.id, by.tenant, key);
    return loadByIntake(by.intake, key);
  };
}
