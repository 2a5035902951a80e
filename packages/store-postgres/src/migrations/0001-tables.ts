import type { Migration } from "./migration.ts";

/**
 * Everything that belongs to a submission is keyed by its tenant and its id, so that it can be sharded by either.
 *
 * Ids are compared byte by byte, whatever the database's language is: pages are in the order of ids.
 *
 * JSON is kept as text: it comes back as it was written, and may hold what `jsonb` refuses (a NUL, half a surrogate pair).
 * `created_by` and `principal` are JSON texts for the same reason: callers choose them.
 *
 * Every index is paid for by each write that touches its columns. A token is written once: that it was rotated shows in the
 * token after it. Rows of submissions leave room on their page, so that a write that moves no index stays on it.
 */
export const tables: Migration = {
  id: 1,
  name: "tables",
  sql: `
    CREATE TABLE formbridge.submissions (
      tenant         text COLLATE "C" NOT NULL,
      submission_id  text COLLATE "C" NOT NULL UNIQUE,
      intake_id      text COLLATE "C" NOT NULL,
      created_by     text COLLATE "C" NOT NULL,
      created_at     bigint NOT NULL,
      state          text COLLATE "C" NOT NULL,
      editable       boolean NOT NULL,
      expires_at     bigint NOT NULL,
      warn_at        bigint,
      ended_at       bigint,
      version        bigint NOT NULL,
      revision       bigint NOT NULL,
      token_seq      bigint NOT NULL,
      token_hash     text COLLATE "C" NOT NULL,
      idem_seq       bigint NOT NULL,
      idem_hash      text COLLATE "C" NOT NULL,
      sealed_token   text NOT NULL,
      sealed_fields  text,
      doc            text NOT NULL,
      definition     text COLLATE "C" NOT NULL,
      erased_at      bigint,
      PRIMARY KEY (tenant, submission_id)
    ) WITH (fillfactor = 70);
    CREATE INDEX submissions_by_state ON formbridge.submissions (tenant, state, submission_id);
    CREATE INDEX submissions_by_intake ON formbridge.submissions (tenant, intake_id, submission_id);
    CREATE INDEX submissions_by_creator ON formbridge.submissions (tenant, created_by, submission_id);
    CREATE INDEX submissions_expiring ON formbridge.submissions (expires_at) WHERE editable;
    CREATE INDEX submissions_to_warn ON formbridge.submissions (warn_at) WHERE warn_at IS NOT NULL;

    CREATE TABLE formbridge.tokens (
      tenant         text COLLATE "C" NOT NULL,
      submission_id  text COLLATE "C" NOT NULL,
      version        bigint NOT NULL,
      hash           text COLLATE "C" NOT NULL UNIQUE,
      intake_id      text COLLATE "C" NOT NULL,
      epoch          bigint NOT NULL,
      issued_at      bigint NOT NULL,
      expires_at     bigint NOT NULL,
      PRIMARY KEY (tenant, submission_id, version)
    );
    CREATE INDEX tokens_by_expiry ON formbridge.tokens (expires_at);

    CREATE SEQUENCE formbridge.positions;
    CREATE TABLE formbridge.events (
      tenant          text COLLATE "C" NOT NULL,
      submission_id   text COLLATE "C" NOT NULL,
      position        bigint NOT NULL DEFAULT nextval('formbridge.positions'),
      intake_id       text COLLATE "C" NOT NULL,
      stream          text COLLATE "C" NOT NULL,
      seq             bigint NOT NULL,
      event_id        text COLLATE "C" NOT NULL,
      type            text COLLATE "C" NOT NULL,
      ts              text COLLATE "C" NOT NULL,
      state           text COLLATE "C" NOT NULL,
      version         bigint NOT NULL,
      actor           text,
      payload         text,
      actor_salt      text,
      actor_digest    text NOT NULL,
      payload_salt    text,
      payload_digest  text NOT NULL,
      prev_hash       text NOT NULL,
      hash            text NOT NULL,
      PRIMARY KEY (tenant, submission_id, position)
    );
    CREATE INDEX events_by_position ON formbridge.events (tenant, position);

    CREATE TABLE formbridge.records (
      tenant             text COLLATE "C" NOT NULL,
      intake_id          text COLLATE "C" NOT NULL,
      operation          text COLLATE "C" NOT NULL,
      hash               text COLLATE "C" NOT NULL,
      submission_id      text COLLATE "C" NOT NULL,
      fingerprint        text COLLATE "C" NOT NULL,
      principal          text NOT NULL,
      carried_version    bigint NOT NULL,
      failed             boolean NOT NULL,
      answer             text NOT NULL,
      answer_by          bigint,
      recorded_at        bigint NOT NULL,
      expires_at         bigint NOT NULL,
      keep_after_end_ms  bigint,
      live_until         bigint,
      PRIMARY KEY (tenant, intake_id, operation, hash)
    );
    CREATE INDEX records_to_forget ON formbridge.records (live_until) WHERE live_until IS NOT NULL;
    CREATE INDEX records_kept ON formbridge.records (tenant, submission_id) WHERE keep_after_end_ms IS NOT NULL;

    CREATE TABLE formbridge.jobs (
      tenant         text COLLATE "C" NOT NULL,
      key            text COLLATE "C" NOT NULL,
      kind           text NOT NULL,
      lane           text COLLATE "C" NOT NULL,
      submission_id  text COLLATE "C" NOT NULL,
      run_at         bigint NOT NULL,
      attempt        bigint NOT NULL DEFAULT 0,
      leased_until   bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant, key)
    );
    CREATE INDEX jobs_due ON formbridge.jobs (lane, run_at);

    CREATE TABLE formbridge.handoffs (
      tenant         text COLLATE "C" NOT NULL,
      submission_id  text COLLATE "C" NOT NULL,
      handoff_id     text COLLATE "C" NOT NULL,
      forget_after   bigint NOT NULL,
      doc            text NOT NULL,
      PRIMARY KEY (tenant, submission_id, handoff_id)
    );
    CREATE INDEX handoffs_by_submission ON formbridge.handoffs (submission_id, handoff_id);
    CREATE INDEX handoffs_to_forget ON formbridge.handoffs (forget_after);

    -- From the hash of a link, or of a session opened through it, to its hand-off.
    CREATE TABLE formbridge.handoff_keys (
      hash           text COLLATE "C" PRIMARY KEY,
      tenant         text COLLATE "C" NOT NULL,
      submission_id  text COLLATE "C" NOT NULL,
      handoff_id     text COLLATE "C" NOT NULL,
      FOREIGN KEY (tenant, submission_id, handoff_id) REFERENCES formbridge.handoffs ON DELETE CASCADE
    );
    CREATE INDEX handoff_keys_by_handoff ON formbridge.handoff_keys (tenant, submission_id, handoff_id);

    CREATE TABLE formbridge.definitions (
      digest      text COLLATE "C" PRIMARY KEY,
      tenant      text COLLATE "C" NOT NULL,
      definition  text NOT NULL
    );

    CREATE TABLE formbridge.intakes (
      id          text COLLATE "C" PRIMARY KEY,
      tenant      text COLLATE "C" NOT NULL,
      source      text NOT NULL,
      digest      text COLLATE "C" NOT NULL REFERENCES formbridge.definitions (digest),
      retired     boolean NOT NULL,
      updated_at  bigint NOT NULL
    );
    CREATE INDEX intakes_by_tenant ON formbridge.intakes (tenant, id);

    CREATE TABLE formbridge.api_keys (
      key_id      text COLLATE "C" PRIMARY KEY,
      hash        text COLLATE "C" NOT NULL UNIQUE,
      tenant      text COLLATE "C" NOT NULL,
      expires_at  bigint,
      revoked     boolean NOT NULL DEFAULT false,
      doc         text NOT NULL
    );
    CREATE INDEX api_keys_by_tenant ON formbridge.api_keys (tenant, key_id);
  `,
};
