import {
  type ChainHead,
  endedAt,
  type Instant,
  isEditable,
  type Submission,
  type SubmissionRow,
} from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { headColumns, headOf } from "./chain-heads.ts";

/** What a commit needs to know of the row that it is about to replace. */
export interface Standing extends Moments {
  sid: number;
  tenant: string;
  revision: number;
  version: number;
  tokenHead: ChainHead;
  idempotencyHead: ChainHead;
}

/** The columns that indexes are made of and that change over a submission's life. */
interface Moments {
  state: string;
  expiresAt: Instant;
  warnAt: Instant | null;
  endedAt: Instant | null;
}

export interface RowWrite {
  row: SubmissionRow;
  /** Absent: the current token stays. */
  sealedToken: string | undefined;
  tokenHead: ChainHead;
  idempotencyHead: ChainHead;
}

function momentsOf(submission: Submission): Moments {
  const { state, expiresAt, warnAt = null } = submission;
  return { state, expiresAt, warnAt: isEditable(state) ? warnAt : null, endedAt: endedAt(submission) ?? null };
}

export function rowOf(doc: string, sealedFields: string | null): SubmissionRow {
  const submission: Submission = JSON.parse(doc);
  return sealedFields === null ? { submission } : { submission, sealedFields };
}

type StandingColumns = [
  sid: number,
  tenant: string,
  revision: number,
  version: number,
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
      `SELECT sid, tenant, revision, version, state, expires_at, warn_at, ended_at, token_seq, hex(token_hash),
         idem_seq, hex(idem_hash)
       FROM submissions WHERE submission_id = ?`,
    )
    .raw();
  const insert = db.prepare(
    `INSERT INTO submissions (submission_id, tenant, intake_id, created_by_id, created_at, state, editable, expires_at, warn_at,
       ended_at, version, revision, token_seq, token_hash, idem_seq, idem_hash, sealed_token, sealed_fields, doc, definition)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), ?, unhex(?), ?, ?, ?, unhex(?))`,
  );
  const quiet = `version = ?, revision = ?, token_seq = ?, token_hash = unhex(?), idem_seq = ?, idem_hash = unhex(?),
    sealed_token = coalesce(?, sealed_token), sealed_fields = ?, doc = ?`;
  // An index is rewritten when one of its columns is named by the UPDATE, even with the value it had.
  const update = db.prepare(`UPDATE submissions SET ${quiet} WHERE sid = ?`);
  const move = db.prepare(
    `UPDATE submissions SET state = ?, editable = ?, expires_at = ?, warn_at = ?, ended_at = ?, ${quiet} WHERE sid = ?`,
  );

  const momentColumns = (now: Moments, submission: Submission) =>
    [now.state, isEditable(submission.state) ? 1 : 0, now.expiresAt, now.warnAt, now.endedAt] as const;
  const quietColumns = ({ row, sealedToken, tokenHead, idempotencyHead }: RowWrite) =>
    [
      row.submission.version,
      row.submission.revision,
      ...headColumns(tokenHead),
      ...headColumns(idempotencyHead),
      sealedToken ?? null,
      row.sealedFields ?? null,
      JSON.stringify(row.submission),
    ] as const;

  return {
    standing(submissionId: string): Standing | undefined {
      const found = select.get(submissionId);
      if (found === undefined) return undefined;
      const [sid, tenant, revision, version, state, expiresAt, warnAt, ended] = found;
      const tokenHead = headOf(found[8], found[9]);
      const idempotencyHead = headOf(found[10], found[11]);
      return { sid, tenant, revision, version, state, expiresAt, warnAt, endedAt: ended, tokenHead, idempotencyHead };
    },
    insert(tenant: string, write: RowWrite): number {
      const { submission } = write.row;
      const { submissionId, intakeId, createdBy, createdAt, definition } = submission;
      const moments = momentColumns(momentsOf(submission), submission);
      const { lastInsertRowid } = insert.run(
        submissionId,
        tenant,
        intakeId,
        createdBy.id,
        createdAt,
        ...moments,
        ...quietColumns(write),
        definition,
      );
      return Number(lastInsertRowid);
    },
    update(before: Standing, write: RowWrite): void {
      const { submission } = write.row;
      const now = momentsOf(submission);
      const still =
        now.state === before.state &&
        now.expiresAt === before.expiresAt &&
        now.warnAt === before.warnAt &&
        now.endedAt === before.endedAt;
      if (still) update.run(...quietColumns(write), before.sid);
      else move.run(...momentColumns(now, submission), ...quietColumns(write), before.sid);
    },
  };
}
