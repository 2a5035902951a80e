import type { Hash, Instant, KeyRef, Loaded, LoadQuery, Snapshot } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import type { ReadCache } from "./read-cache.ts";
import type { Records } from "./records.ts";
import { rowOf } from "./submission-rows.ts";
import { TOKEN_COLUMNS, type TokenColumns, tokenOf } from "./tokens.ts";

type SnapshotColumns = [sealedToken: string, sealedFields: string | null, doc: string];

const snapshotOf = (sealedToken: string, sealedFields: string | null, doc: string): Snapshot => ({
  ...rowOf(doc, sealedFields),
  sealedToken,
});

interface Sources {
  records: Records;
  now: () => Instant;
  cache: ReadCache;
}

export function createLoader(db: Database, { records, now, cache }: Sources): (query: LoadQuery) => Loaded {
  const byToken = db
    .prepare<[string], [...SnapshotColumns, ...TokenColumns]>(
      `SELECT s.sealed_token, s.sealed_fields, s.doc, ${TOKEN_COLUMNS}
       FROM tokens AS t JOIN submissions AS s ON s.sid = t.sid WHERE t.hash = ?`,
    )
    .raw();
  const byId = db
    .prepare<[string, string], SnapshotColumns>(
      "SELECT sealed_token, sealed_fields, doc FROM submissions WHERE submission_id = ? AND tenant = ?",
    )
    .raw();
  const byIntake = db.prepare<[string], { digest: Hash; tenant: string; retired: number }>(
    "SELECT digest, tenant, retired FROM intakes WHERE id = ?",
  );

  function withRecord(loaded: Loaded, scope: { tenant: string; intakeId: string }, key: KeyRef | undefined): Loaded {
    const record = key && records.find({ ...scope, operation: key.operation, hash: key.hash }, loaded.now);
    if (record !== undefined) loaded.record = record;
    return loaded;
  }

  function loadByToken(hash: Hash, key: KeyRef | undefined): Loaded {
    const found = byToken.get(hash);
    if (found === undefined) return { now: now() };
    const submission = snapshotOf(found[0], found[1], found[2]);
    return withRecord({ now: now(), submission, presented: tokenOf(found, 3) }, submission.submission, key);
  }

  function loadById(id: string, tenant: string, key: KeyRef | undefined): Loaded {
    const found = byId.get(id, tenant);
    if (found === undefined) return { now: now() };
    const submission = snapshotOf(found[0], found[1], found[2]);
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
