import type { Database } from "better-sqlite3";
import { type AuditHeads, headColumns, headOf } from "./chain.ts";
import type { FlatChange, Moments } from "./flat-change.ts";

/** What a commit needs to know of the row that it is about to replace. */
export interface Standing extends Moments, AuditHeads {
  sid: number;
  tenant: string;
  revision: number;
}

type StandingColumns = [
  sid: number,
  tenant: string,
  revision: number,
  state: string,
  expiresAt: number,
  warnAt: number | null,
  endedAt: number | null,
  tokenSeq: number,
  tokenHash: string,
  idemSeq: number,
  idemHash: string,
];

/** Reads and writes the rows of `submissions` for a commit; only inside its transaction. */
export function createRowWriter(db: Database) {
  const select = db
    .prepare<[string], StandingColumns>(
      `SELECT sid, tenant, revision, state, expires_at, warn_at, ended_at, token_seq, hex(token_hash), idem_seq, hex(idem_hash)
       FROM submissions WHERE submission_id = ?`,
    )
    .raw();
  const insert = db.prepare(
    `INSERT INTO submissions (submission_id, tenant, intake_id, created_by_id, created_at, state, editable, expires_at, warn_at,
       ended_at, version, revision, token_seq, token_hash, idem_seq, idem_hash, sealed_token, sealed_fields, doc, definition)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), ?, unhex(?), ?, ?, ?, unhex(?))
     ON CONFLICT (submission_id) DO NOTHING`,
  );
  const quiet = `version = ?, revision = ?, token_seq = ?, token_hash = unhex(?), idem_seq = ?, idem_hash = unhex(?),
    sealed_token = coalesce(?, sealed_token), sealed_fields = ?, doc = ?`;
  // An index is rewritten when one of its columns is named by the UPDATE, even with the value it had.
  const update = db.prepare(`UPDATE submissions SET ${quiet} WHERE sid = ?`);
  const move = db.prepare(
    `UPDATE submissions SET state = ?, editable = ?, expires_at = ?, warn_at = ?, ended_at = ?, ${quiet} WHERE sid = ?`,
  );

  const momentColumns = (change: FlatChange) =>
    [change.state, change.editable, change.expiresAt, change.warnAt, change.endedAt] as const;
  const quietColumns = (change: FlatChange, { tokenHead, idempotencyHead }: AuditHeads) =>
    [
      change.version,
      change.revision,
      ...headColumns(tokenHead),
      ...headColumns(idempotencyHead),
      change.sealedToken,
      change.sealedFields,
      change.doc,
    ] as const;

  return {
    standing(submissionId: string): Standing | undefined {
      const found = select.get(submissionId);
      if (found === undefined) return undefined;
      const [sid, tenant, revision, state, expiresAt, warnAt, endedAt] = found;
      const tokenHead = headOf(found[7], found[8]);
      const idempotencyHead = headOf(found[9], found[10]);
      return { sid, tenant, revision, state, expiresAt, warnAt, endedAt, tokenHead, idempotencyHead };
    },
    /** Undefined: there is one with its id. */
    insert(change: FlatChange, heads: AuditHeads): number | undefined {
      const { submissionId, tenant, intakeId, createdById, createdAt, definition } = change;
      const { changes, lastInsertRowid } = insert.run(
        submissionId,
        tenant,
        intakeId,
        createdById,
        createdAt,
        ...momentColumns(change),
        ...quietColumns(change, heads),
        definition,
      );
      return changes === 0 ? undefined : Number(lastInsertRowid);
    },
    update(before: Standing, change: FlatChange, heads: AuditHeads): void {
      const still =
        change.state === before.state &&
        change.expiresAt === before.expiresAt &&
        change.warnAt === before.warnAt &&
        change.endedAt === before.endedAt;
      if (still) update.run(...quietColumns(change, heads), before.sid);
      else move.run(...momentColumns(change), ...quietColumns(change, heads), before.sid);
    },
  };
}
