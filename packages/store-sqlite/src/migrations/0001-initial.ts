import type { Migration } from "./migration.ts";

/**
 * `sid` is a submission's place in this file: small keys for tokens and events, which are the bulk of it.
 *
 * Every index is paid for by each write that touches its columns. A token is written once: that it was rotated shows in the
 * token after it, its neighbour. Events of one submission come in the order of `position` because an index entry ends with the
 * row's own key. Hashes are kept as bytes, and of a token's hash the index holds the first 52 bits: random keys reach every page
 * of their index, so it must stay small enough for memory when there are millions of tokens. Should two tokens ever share these
 * bits, the later one is refused with its write, and a repeated write draws another.
 */
export const initial: Migration = {
  id: 1,
  name: "tables",
  sql: `
    CREATE TABLE submissions (
      sid            INTEGER PRIMARY KEY AUTOINCREMENT,
      submission_id  TEXT NOT NULL UNIQUE,
      tenant         TEXT NOT NULL,
      intake_id      TEXT NOT NULL,
      created_by_id  TEXT NOT NULL,
      created_at     INTEGER NOT NULL,
      state          TEXT NOT NULL,
      editable       INTEGER NOT NULL,
      expires_at     INTEGER NOT NULL,
      warn_at        INTEGER,
      ended_at       INTEGER,
      version        INTEGER NOT NULL,
      revision       INTEGER NOT NULL,
      token_seq      INTEGER NOT NULL,
      token_hash     BLOB,
      idem_seq       INTEGER NOT NULL,
      idem_hash      BLOB,
      sealed_token   TEXT NOT NULL,
      sealed_fields  TEXT,
      doc            TEXT NOT NULL
    ) STRICT;
    CREATE INDEX submissions_by_state ON submissions (tenant, state, submission_id);
    CREATE INDEX submissions_by_intake ON submissions (tenant, intake_id, submission_id);
    CREATE INDEX submissions_by_creator ON submissions (tenant, created_by_id, submission_id);
    CREATE INDEX submissions_expiring ON submissions (expires_at) WHERE editable = 1;
    CREATE INDEX submissions_to_warn ON submissions (warn_at) WHERE warn_at IS NOT NULL;

    CREATE TABLE tokens (
      sid         INTEGER NOT NULL,
      version     INTEGER NOT NULL,
      head        INTEGER NOT NULL,
      hash        BLOB NOT NULL,
      tenant      TEXT NOT NULL,
      epoch       INTEGER NOT NULL,
      issued_at   INTEGER NOT NULL,
      expires_at  INTEGER NOT NULL,
      PRIMARY KEY (sid, version)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX tokens_by_head ON tokens (head);
    CREATE INDEX tokens_by_expiry ON tokens (expires_at);

    CREATE TABLE events (
      position        INTEGER PRIMARY KEY AUTOINCREMENT,
      sid             INTEGER NOT NULL,
      tenant          TEXT NOT NULL,
      stream          TEXT NOT NULL,
      seq             INTEGER NOT NULL,
      event_id        TEXT NOT NULL,
      type            TEXT NOT NULL,
      ts              TEXT NOT NULL,
      state           TEXT NOT NULL,
      version         INTEGER NOT NULL,
      actor           TEXT,
      payload         TEXT,
      actor_salt      TEXT,
      actor_digest    BLOB NOT NULL,
      payload_salt    TEXT,
      payload_digest  BLOB NOT NULL,
      prev_hash       BLOB NOT NULL,
      hash            BLOB NOT NULL
    ) STRICT;
    CREATE INDEX events_by_submission ON events (sid);

    CREATE TABLE records (
      record_id          INTEGER PRIMARY KEY,
      tenant             TEXT NOT NULL,
      intake_id          TEXT NOT NULL,
      operation          TEXT NOT NULL,
      hash               TEXT NOT NULL,
      sid                INTEGER NOT NULL,
      submission_id      TEXT NOT NULL,
      fingerprint        TEXT NOT NULL,
      principal          TEXT NOT NULL,
      carried_version    INTEGER NOT NULL,
      failed             INTEGER NOT NULL,
      answer             TEXT NOT NULL,
      answer_by          INTEGER,
      recorded_at        INTEGER NOT NULL,
      expires_at         INTEGER NOT NULL,
      keep_after_end_ms  INTEGER,
      live_until         INTEGER,
      UNIQUE (hash, operation, intake_id, tenant)
    ) STRICT;
    CREATE INDEX records_to_forget ON records (live_until) WHERE live_until IS NOT NULL;
    CREATE INDEX records_kept ON records (sid) WHERE keep_after_end_ms IS NOT NULL;

    CREATE TABLE jobs (
      tenant         TEXT NOT NULL,
      key            TEXT NOT NULL,
      kind           TEXT NOT NULL,
      submission_id  TEXT NOT NULL,
      run_at         INTEGER NOT NULL,
      attempt        INTEGER NOT NULL DEFAULT 0,
      leased_until   INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX jobs_due ON jobs (run_at);

    CREATE TABLE definitions (
      digest      TEXT PRIMARY KEY,
      tenant      TEXT NOT NULL,
      definition  TEXT NOT NULL
    ) STRICT;

    CREATE TABLE intakes (
      id          TEXT PRIMARY KEY,
      tenant      TEXT NOT NULL,
      source      TEXT NOT NULL,
      digest      TEXT NOT NULL REFERENCES definitions (digest),
      retired     INTEGER NOT NULL,
      updated_at  INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX intakes_by_tenant ON intakes (tenant, id);

    CREATE TABLE api_keys (
      key_id      TEXT PRIMARY KEY,
      hash        TEXT NOT NULL UNIQUE,
      tenant      TEXT NOT NULL,
      expires_at  INTEGER,
      revoked     INTEGER NOT NULL DEFAULT 0,
      doc         TEXT NOT NULL
    ) STRICT;
    CREATE INDEX api_keys_by_tenant ON api_keys (tenant, key_id);
  `,
};
