import type { Migration } from "@formbridge/store-sql";
import { FEED } from "./0001-feed.ts";
import { FUNCTIONS } from "./0001-functions.ts";

/**
 * Columns as `store-sql` describes them; a test compares the two.
 *
 * Ids are compared byte by byte, whatever the database's language is: pages are in the order of ids. Rows of submissions leave room on
 * their page, so that an update that moves no index entry stays on it.
 *
 * Every index costs each write that touches its columns. What a commit writes, and which query needs it:
 *
 *   submissions              1  the row: every load. Updated in place (HOT) unless an indexed column changes
 *     submissions_pkey       1  load by id                              only by a create
 *     by_state               1  lists, tenants                          by a create, or when the state changes
 *     by_intake, by_creator  2  lists of an intake, of an agent         only by a create
 *     expiring, to_warn      2  the sweep; lists                        by a create, or when one of these changes
 *     to_erase, to_remove    1  retention                               when it ends, or is erased
 *   tokens                   1  load by token, through its hash         each write that rotates the token
 *     hash, tokens_pkey      2  tokens_pkey: when it was rotated; erasure
 *     by_expiry              1  clean-up
 *   events                   1  each event: the log, the feed
 *     events_pkey            1  each event: the log of one submission
 *     by_position            1  each event: the feed of a tenant
 *   records                  1  only with an idempotency key, through records_pkey
 *     records_pkey           1
 *     by_submission          1  the submission's end and erasure
 *     to_forget              1  clean-up, once the record can expire
 *   jobs                     1  only when a job is added
 *     jobs_pkey, due         2  due: claims
 *
 * So a create without a key, with three events, writes 5 rows and 15 index entries; a setFields, with two, 4 rows and 7 entries.
 */
const TABLES = `
  CREATE TABLE formbridge.submissions (
    submission_id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, intake_id text COLLATE "C" NOT NULL,
    created_by text COLLATE "C" NOT NULL, created_at bigint NOT NULL, state text COLLATE "C" NOT NULL,
    editable boolean NOT NULL, expires_at bigint NOT NULL, warn_at bigint, ended_at bigint,
    definition text COLLATE "C" NOT NULL, erased_at bigint, version bigint NOT NULL, revision bigint NOT NULL,
    sealed_token text NOT NULL, sealed_fields text, doc text NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX submissions_by_state ON formbridge.submissions (tenant, state, submission_id);
  CREATE INDEX submissions_by_intake ON formbridge.submissions (tenant, intake_id, submission_id);
  CREATE INDEX submissions_by_creator ON formbridge.submissions (tenant, created_by, submission_id);
  CREATE INDEX submissions_expiring ON formbridge.submissions (expires_at) WHERE editable;
  CREATE INDEX submissions_to_warn ON formbridge.submissions (warn_at) WHERE warn_at IS NOT NULL;
  CREATE INDEX submissions_to_erase ON formbridge.submissions (definition, ended_at)
    WHERE ended_at IS NOT NULL AND erased_at IS NULL;
  CREATE INDEX submissions_to_remove ON formbridge.submissions (erased_at) WHERE erased_at IS NOT NULL;

  CREATE TABLE formbridge.tokens (
    submission_id text COLLATE "C" NOT NULL, version bigint NOT NULL, hash text COLLATE "C" NOT NULL UNIQUE,
    epoch bigint NOT NULL, issued_at bigint NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (submission_id, version)
  );
  CREATE INDEX tokens_by_expiry ON formbridge.tokens (expires_at);

  CREATE SEQUENCE formbridge.positions;
  CREATE TABLE formbridge.events (
    submission_id text COLLATE "C" NOT NULL, position bigint NOT NULL DEFAULT nextval('formbridge.positions'),
    tenant text COLLATE "C" NOT NULL, intake_id text COLLATE "C" NOT NULL, stream text COLLATE "C" NOT NULL,
    seq bigint NOT NULL, event_id text COLLATE "C" NOT NULL, type text COLLATE "C" NOT NULL, ts text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL, version bigint NOT NULL, actor text, payload text, actor_salt text,
    actor_digest text NOT NULL, payload_salt text, payload_digest text NOT NULL, prev_hash text NOT NULL,
    hash text NOT NULL, PRIMARY KEY (submission_id, position)
  );
  CREATE INDEX events_by_position ON formbridge.events (tenant, position);

  CREATE TABLE formbridge.records (
    tenant text COLLATE "C" NOT NULL, intake_id text COLLATE "C" NOT NULL, operation text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL, submission_id text COLLATE "C" NOT NULL, fingerprint text COLLATE "C" NOT NULL,
    principal text NOT NULL, carried_version bigint NOT NULL, failed boolean NOT NULL, answer text NOT NULL,
    answer_by bigint, recorded_at bigint NOT NULL, expires_at bigint NOT NULL, keep_after_end_ms bigint,
    live_until bigint, PRIMARY KEY (tenant, intake_id, operation, hash)
  );
  CREATE INDEX records_by_submission ON formbridge.records (submission_id);
  CREATE INDEX records_to_forget ON formbridge.records (live_until) WHERE live_until IS NOT NULL;

  CREATE TABLE formbridge.jobs (
    key text COLLATE "C" NOT NULL, tenant text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL, submission_id text COLLATE "C" NOT NULL, run_at bigint NOT NULL,
    attempt bigint NOT NULL, leased_until bigint NOT NULL, PRIMARY KEY (key, tenant)
  );
  CREATE INDEX jobs_due ON formbridge.jobs (lane, run_at);

  CREATE TABLE formbridge.handoffs (
    handoff_id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, submission_id text COLLATE "C" NOT NULL,
    forget_after bigint NOT NULL, doc text NOT NULL
  );
  CREATE INDEX handoffs_by_submission ON formbridge.handoffs (submission_id, handoff_id);
  CREATE INDEX handoffs_by_tenant ON formbridge.handoffs (tenant, handoff_id);
  CREATE INDEX handoffs_to_forget ON formbridge.handoffs (forget_after);

  CREATE TABLE formbridge.handoff_keys (
    hash text COLLATE "C" PRIMARY KEY,
    handoff_id text COLLATE "C" NOT NULL REFERENCES formbridge.handoffs ON DELETE CASCADE
  );
  CREATE INDEX handoff_keys_by_handoff ON formbridge.handoff_keys (handoff_id);

  CREATE TABLE formbridge.review_links (
    link_id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, submission_id text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE, forget_after bigint NOT NULL, doc text NOT NULL
  );
  CREATE INDEX review_links_by_submission ON formbridge.review_links (submission_id);
  CREATE INDEX review_links_to_forget ON formbridge.review_links (forget_after);

  CREATE TABLE formbridge.definitions (
    digest text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, definition text NOT NULL
  );

  CREATE TABLE formbridge.intakes (
    id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, source text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL REFERENCES formbridge.definitions, retired boolean NOT NULL,
    updated_at bigint NOT NULL
  );
  CREATE INDEX intakes_by_tenant ON formbridge.intakes (tenant, id);

  CREATE TABLE formbridge.api_keys (
    key_id text COLLATE "C" PRIMARY KEY, hash text COLLATE "C" NOT NULL UNIQUE, tenant text COLLATE "C" NOT NULL,
    expires_at bigint, revoked boolean NOT NULL, doc text NOT NULL
  );
  CREATE INDEX api_keys_by_tenant ON formbridge.api_keys (tenant, key_id);

  CREATE TABLE formbridge.webhooks (
    webhook_id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, defined_by text COLLATE "C",
    revision bigint NOT NULL, doc text NOT NULL, state text COLLATE "C" NOT NULL, position bigint NOT NULL,
    ahead text NOT NULL, retry_at bigint, blocked text, failures bigint NOT NULL, next_attempt_at bigint NOT NULL,
    last_error text, claim bigint NOT NULL, leased_until bigint NOT NULL
  );
  CREATE INDEX webhooks_by_tenant ON formbridge.webhooks (tenant, webhook_id);
  CREATE INDEX webhooks_due ON formbridge.webhooks (next_attempt_at) WHERE state = 'active';

  -- Kept after their submissions are gone: harvesters that have seen a record must learn that it was deleted.
  CREATE TABLE formbridge.publications (
    submission_id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, intake_id text COLLATE "C" NOT NULL,
    stamped_at bigint NOT NULL, status text COLLATE "C" NOT NULL, content text
  );
  CREATE INDEX publications_by_stamp ON formbridge.publications (stamped_at, submission_id);
  CREATE INDEX publications_by_intake ON formbridge.publications (intake_id, stamped_at, submission_id);
  CREATE INDEX publications_by_status ON formbridge.publications (intake_id, status);

  CREATE TABLE formbridge.incidents (
    incident_id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, cause text COLLATE "C" NOT NULL,
    number bigint NOT NULL, revision bigint NOT NULL, kind text COLLATE "C" NOT NULL, state text COLLATE "C" NOT NULL,
    submission_id text COLLATE "C", last_seen_at bigint NOT NULL, due_at bigint, doc text NOT NULL, UNIQUE (cause, number)
  );
  CREATE INDEX incidents_by_tenant ON formbridge.incidents (tenant, incident_id);
  CREATE INDEX incidents_due ON formbridge.incidents (due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE formbridge.blocks (
    block_id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL, ends_at bigint NOT NULL, doc text NOT NULL
  );
  -- Not worth a disk write: it is empty after a crash.
  CREATE UNLOGGED TABLE formbridge.alarm_marks (
    subject text COLLATE "C", member text COLLATE "C", at bigint NOT NULL, forget_after bigint NOT NULL,
    PRIMARY KEY (subject, member)
  );
  CREATE INDEX alarm_marks_to_forget ON formbridge.alarm_marks (forget_after);

  CREATE TABLE formbridge.secret_checks (
    single bigint PRIMARY KEY CHECK (single = 1), checks text NOT NULL
  );

  -- Copies of other stores into this database. As long as one is not finished, no server starts on it.
  CREATE TABLE formbridge.copies (
    fingerprint text COLLATE "C" PRIMARY KEY, started_at timestamptz NOT NULL DEFAULT now(), finished_at timestamptz
  );

  -- One row, which the health check updates to find out whether writes succeed again.
  CREATE TABLE formbridge.write_probe (
    single boolean PRIMARY KEY DEFAULT true CHECK (single), probed_at timestamptz NOT NULL DEFAULT now()
  );
`;

export const initial: Migration = { id: 1, name: "initial", sql: TABLES + FUNCTIONS + FEED };
