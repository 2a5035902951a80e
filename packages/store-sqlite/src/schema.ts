import type { Migration } from "@formbridge/store-sql";

/**
 * The tables of a SQLite file. Their columns are those of `packages/store-sql`, with two differences:
 *
 * - `sid` is a submission's row number in this file. Tokens, events and records hold it in place of tenant, intake and submission id,
 *   which are read from the submission. These tables make up most of the file, and every commit writes to them.
 * - Hashes are bytes.
 *
 * What a commit writes, and which query needs it:
 *
 *   submissions            1  the row: every load
 *     submission_id        1  load by id                              only by a create
 *     by_state             1  lists, tenants                          by a create, or when the state changes
 *     by_intake            1  lists of an intake                      only by a create
 *     by_creator           1  lists of an agent's own submissions     only by a create
 *     expiring, to_warn    2  the sweep; lists                        by a create, or when one of these changes
 *     to_erase, to_remove  1  retention                               when it ends, or is erased
 *   tokens                 1  load by token, through by_hash          each write that rotates the token
 *     by_hash              1
 *     by_expiry            1  clean-up
 *   events                 1  each event: the log, the feed
 *     by_submission        1  each event: the log of one submission
 *   records                1  only with an idempotency key, through its unique key
 *     key, by_submission,  3  by_submission: the submission's end and erasure; to_forget: clean-up
 *     to_forget
 *   jobs                   1  only when a job is added
 *     due                  1
 *
 * So a create without a key, with three events, is 16 entries; a setFields, with two, is 8. An UPDATE rewrites an index when it names
 * one of its columns, even with the same value, so commits that change none use a statement that names none (`submission-rows.ts`).
 *
 * Random keys touch every page of their index, so `tokens_by_hash` holds the first 8 of 32 bytes: the index of millions of tokens
 * stays in memory. If two tokens ever shared these bytes, the later write would be refused, and a retry generates another token.
 *
 * `payload` is the last column of events: looking for events doesn't read large payloads. Positions are never reused (AUTOINCREMENT),
 * also when the last event is removed: readers of the feed have passed it.
 */
const schema: Migration = {
  id: 1,
  name: "schema",
  sql: `
    CREATE TABLE submissions (
      sid INTEGER PRIMARY KEY, submission_id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, intake_id TEXT NOT NULL,
      created_by TEXT NOT NULL, created_at INTEGER NOT NULL, state TEXT NOT NULL, editable INTEGER NOT NULL,
      expires_at INTEGER NOT NULL, warn_at INTEGER, ended_at INTEGER, definition BLOB NOT NULL, erased_at INTEGER,
      version INTEGER NOT NULL, revision INTEGER NOT NULL, sealed_token TEXT NOT NULL, sealed_fields TEXT, doc TEXT NOT NULL
    ) STRICT;
    CREATE INDEX submissions_by_state ON submissions (tenant, state, submission_id);
    CREATE INDEX submissions_by_intake ON submissions (tenant, intake_id, submission_id);
    CREATE INDEX submissions_by_creator ON submissions (tenant, created_by, submission_id);
    CREATE INDEX submissions_expiring ON submissions (expires_at) WHERE editable;
    CREATE INDEX submissions_to_warn ON submissions (warn_at) WHERE warn_at IS NOT NULL;
    CREATE INDEX submissions_to_erase ON submissions (definition, ended_at) WHERE ended_at IS NOT NULL AND erased_at IS NULL;
    CREATE INDEX submissions_to_remove ON submissions (erased_at) WHERE erased_at IS NOT NULL;

    CREATE TABLE tokens (
      sid INTEGER NOT NULL, version INTEGER NOT NULL, hash BLOB NOT NULL, epoch INTEGER NOT NULL, issued_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL, PRIMARY KEY (sid, version)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX tokens_by_hash ON tokens (substr(hash, 1, 8));
    CREATE INDEX tokens_by_expiry ON tokens (expires_at);

    CREATE TABLE events (
      position INTEGER PRIMARY KEY AUTOINCREMENT, sid INTEGER NOT NULL, stream TEXT NOT NULL, seq INTEGER NOT NULL,
      event_id TEXT NOT NULL, type TEXT NOT NULL, ts TEXT NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL,
      actor_salt TEXT, actor_digest BLOB NOT NULL, payload_salt TEXT, payload_digest BLOB NOT NULL, prev_hash BLOB NOT NULL,
      hash BLOB NOT NULL, actor TEXT, payload TEXT
    ) STRICT;
    CREATE INDEX events_by_submission ON events (sid);

    CREATE TABLE records (
      record_id INTEGER PRIMARY KEY, sid INTEGER NOT NULL, tenant TEXT NOT NULL, intake_id TEXT NOT NULL,
      operation TEXT NOT NULL, hash BLOB NOT NULL, fingerprint BLOB NOT NULL, principal TEXT NOT NULL,
      carried_version INTEGER NOT NULL, failed INTEGER NOT NULL, answer TEXT NOT NULL, answer_by INTEGER,
      recorded_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, keep_after_end_ms INTEGER, live_until INTEGER,
      UNIQUE (hash, operation, intake_id, tenant)
    ) STRICT;
    CREATE INDEX records_by_submission ON records (sid);
    CREATE INDEX records_to_forget ON records (live_until) WHERE live_until IS NOT NULL;

    CREATE TABLE jobs (
      tenant TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, lane TEXT NOT NULL, submission_id TEXT NOT NULL,
      run_at INTEGER NOT NULL, attempt INTEGER NOT NULL, leased_until INTEGER NOT NULL, PRIMARY KEY (tenant, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX jobs_due ON jobs (lane, run_at);

    CREATE TABLE handoffs (
      handoff_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, submission_id TEXT NOT NULL, forget_after INTEGER NOT NULL,
      doc TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX handoffs_by_submission ON handoffs (submission_id, handoff_id);
    CREATE INDEX handoffs_by_tenant ON handoffs (tenant, handoff_id);
    CREATE INDEX handoffs_to_forget ON handoffs (forget_after);

    CREATE TABLE handoff_keys (
      hash BLOB PRIMARY KEY, handoff_id TEXT NOT NULL REFERENCES handoffs (handoff_id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX handoff_keys_by_handoff ON handoff_keys (handoff_id);

    CREATE TABLE review_links (
      link_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, submission_id TEXT NOT NULL, hash BLOB NOT NULL UNIQUE,
      forget_after INTEGER NOT NULL, doc TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX review_links_by_submission ON review_links (submission_id);
    CREATE INDEX review_links_to_forget ON review_links (forget_after);

    CREATE TABLE definitions (
      digest BLOB PRIMARY KEY, tenant TEXT NOT NULL, definition TEXT NOT NULL
    ) STRICT;

    CREATE TABLE intakes (
      id TEXT PRIMARY KEY, tenant TEXT NOT NULL, source TEXT NOT NULL, digest BLOB NOT NULL REFERENCES definitions (digest),
      retired INTEGER NOT NULL, updated_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX intakes_by_tenant ON intakes (tenant, id);

    CREATE TABLE api_keys (
      key_id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, tenant TEXT NOT NULL, expires_at INTEGER, revoked INTEGER NOT NULL,
      doc TEXT NOT NULL
    ) STRICT;
    CREATE INDEX api_keys_by_tenant ON api_keys (tenant, key_id);

    CREATE TABLE webhooks (
      webhook_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, defined_by TEXT, revision INTEGER NOT NULL, doc TEXT NOT NULL,
      state TEXT NOT NULL, position INTEGER NOT NULL, ahead TEXT NOT NULL, retry_at INTEGER, blocked TEXT,
      failures INTEGER NOT NULL, next_attempt_at INTEGER NOT NULL, last_error TEXT, claim INTEGER NOT NULL,
      leased_until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX webhooks_by_tenant ON webhooks (tenant, webhook_id);
    CREATE INDEX webhooks_due ON webhooks (next_attempt_at) WHERE state = 'active';

    -- Kept after their submissions are gone: harvesters that have seen a record must learn that it was deleted.
    CREATE TABLE publications (
      submission_id  TEXT PRIMARY KEY,
      tenant         TEXT NOT NULL,
      intake_id      TEXT NOT NULL,
      stamped_at     INTEGER NOT NULL,
      status         TEXT NOT NULL,
      content        TEXT
    ) STRICT;
    CREATE INDEX publications_by_stamp ON publications (stamped_at, submission_id);
    CREATE INDEX publications_by_intake ON publications (intake_id, stamped_at, submission_id);
    CREATE INDEX publications_by_status ON publications (intake_id, status);

    CREATE TABLE incidents (
      incident_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, cause TEXT NOT NULL, number INTEGER NOT NULL, revision INTEGER NOT NULL,
      kind TEXT NOT NULL, state TEXT NOT NULL, submission_id TEXT, last_seen_at INTEGER NOT NULL, due_at INTEGER,
      doc TEXT NOT NULL, UNIQUE (cause, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX incidents_by_tenant ON incidents (tenant, incident_id);
    CREATE INDEX incidents_due ON incidents (due_at) WHERE due_at IS NOT NULL;
    CREATE TABLE blocks (
      block_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, ends_at INTEGER NOT NULL, doc TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE secret_checks (
      single INTEGER PRIMARY KEY CHECK (single = 1), checks TEXT NOT NULL
    ) STRICT;
  `,
};

export const MIGRATIONS: readonly Migration[] = [schema];
