import type { Migration } from "./migration.ts";

/**
 * A whole write in one call. It refuses before it writes anything, in the port's order: key, revision, deadline.
 *
 * - Commits under one key go one after the other, by a lock on the key that ends with the transaction. Whoever waited looks
 *   after the one before is done, and finds its record. The records' primary key backs it: a live one is never overwritten.
 * - The row is read without a lock: a revision that has moved never comes back, so most who are late leave without a trace.
 *   The UPDATE names the revision again and waits for a writer who was faster. As long as the revision is the same, so are the
 *   ends of the chains.
 * - That wait may outlast the deadline, so it is looked at again; what is written by then is undone by an error.
 * - Positions are drawn under a lock that tells readers of the feed where this write began, see feed_horizon.
 */
export const commit: Migration = {
  id: 4,
  name: "commit",
  sql: `
    CREATE TYPE formbridge.committed AS (kind text, at bigint, loaded formbridge.loaded);
    CREATE TYPE formbridge.new_handoff AS (handoff_id text, forget_after bigint, doc text, hashes text[]);
    CREATE TYPE formbridge.new_job AS (key text, kind text, lane text, run_at bigint);

    CREATE FUNCTION formbridge.last_position() RETURNS bigint LANGUAGE sql VOLATILE AS $$
      SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM formbridge.positions
    $$;
    -- The first byte tells these locks from others: 0x46.
    CREATE FUNCTION formbridge.position_lock(began bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
      SELECT (70::bigint << 56) | began
    $$;
    CREATE FUNCTION formbridge.live_until(expires_at bigint, keep_after_end_ms bigint, ended_at bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE AS $$
      SELECT CASE WHEN keep_after_end_ms IS NULL THEN expires_at
                  WHEN ended_at IS NULL THEN NULL
                  ELSE greatest(expires_at, ended_at + keep_after_end_ms) END
    $$;

    CREATE FUNCTION formbridge.commit_change(
      p_tenant text, p_submission_id text, p_expected_revision bigint, p_not_after bigint,
      p_intake_id text, p_created_by text, p_created_at bigint, p_state text, p_editable boolean, p_expires_at bigint,
      p_warn_at bigint, p_ended_at bigint, p_version bigint, p_revision bigint, p_sealed_fields text, p_doc text,
      p_token_hash text, p_token_sealed text, p_token_epoch bigint, p_token_issued_at bigint, p_token_expires_at bigint,
      p_key_operation text, p_key_hash text, p_key_replaces text, p_key_fingerprint text, p_key_principal text,
      p_key_carried_version bigint, p_key_failed boolean, p_key_answer text, p_key_answer_by bigint,
      p_key_expires_at bigint, p_key_keep_after_end_ms bigint,
      p_events json, p_audit json, p_handoffs json, p_jobs json, p_drop_jobs text[]
    ) RETURNS formbridge.committed LANGUAGE plpgsql AS $$
    DECLARE
      nothing       formbridge.loaded;
      taken         formbridge.loaded;
      event         formbridge.new_event;
      chained       formbridge.new_event[] := '{}';
      at_revision   bigint;
      was_ended_at  bigint;
      own_token_seq     bigint := 0;
      own_token_hash    text := repeat('0', 64);
      own_idem_seq      bigint := 0;
      own_idem_hash     text := repeat('0', 64);
      at            bigint;
    BEGIN
      IF p_key_hash IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtext(p_key_hash), hashtext(p_key_operation || p_intake_id || ' ' || p_tenant));
        taken.now := formbridge.now_ms();
        taken := formbridge.with_record(taken, p_tenant, p_intake_id, p_key_operation, p_key_hash);
        IF taken.record_fingerprint IS NOT NULL AND taken.record_fingerprint IS DISTINCT FROM p_key_replaces THEN
          RETURN ROW('key_taken', taken.now, taken)::formbridge.committed;
        END IF;
      END IF;

      IF p_expected_revision IS NOT NULL THEN
        SELECT s.revision, s.ended_at, s.token_seq, s.token_hash, s.idem_seq, s.idem_hash
          INTO at_revision, was_ended_at, own_token_seq, own_token_hash, own_idem_seq, own_idem_hash
          FROM formbridge.submissions AS s WHERE s.tenant = p_tenant AND s.submission_id = p_submission_id;
        IF at_revision IS DISTINCT FROM p_expected_revision THEN
          RETURN ROW('stale', NULL, formbridge.load_by_id(p_tenant, p_submission_id, p_key_operation, p_key_hash)
            )::formbridge.committed;
        END IF;
        at := formbridge.now_ms();
        IF at > p_not_after THEN
          RETURN ROW('too_late', at, nothing)::formbridge.committed;
        END IF;
      END IF;

      FOR event IN SELECT * FROM json_populate_recordset(NULL::formbridge.new_event, p_audit) LOOP
        IF event.stream = 'token' THEN
          own_token_seq := own_token_seq + 1;
          event.seq := own_token_seq;
          event.prev_hash := own_token_hash;
          event.hash := formbridge.chain_hash(p_submission_id, event);
          own_token_hash := event.hash;
        ELSE
          own_idem_seq := own_idem_seq + 1;
          event.seq := own_idem_seq;
          event.prev_hash := own_idem_hash;
          event.hash := formbridge.chain_hash(p_submission_id, event);
          own_idem_hash := event.hash;
        END IF;
        chained := chained || event;
      END LOOP;

      IF p_expected_revision IS NULL THEN
        INSERT INTO formbridge.submissions
          VALUES (p_tenant, p_submission_id, p_intake_id, p_created_by, p_created_at, p_state, p_editable, p_expires_at,
                  p_warn_at, p_ended_at, p_version, p_revision, own_token_seq, own_token_hash, own_idem_seq,
                  own_idem_hash, p_token_sealed, p_sealed_fields, p_doc)
          ON CONFLICT DO NOTHING;
      ELSE
        UPDATE formbridge.submissions AS s
           SET state = p_state, editable = p_editable, expires_at = p_expires_at, warn_at = p_warn_at,
               ended_at = p_ended_at, version = p_version, revision = p_revision,
               token_seq = own_token_seq, token_hash = own_token_hash,
               idem_seq = own_idem_seq, idem_hash = own_idem_hash,
               sealed_token = coalesce(p_token_sealed, s.sealed_token), sealed_fields = p_sealed_fields, doc = p_doc
         WHERE s.tenant = p_tenant AND s.submission_id = p_submission_id AND s.revision = p_expected_revision;
      END IF;
      IF NOT FOUND THEN
        RETURN ROW('stale', NULL, formbridge.load_by_id(p_tenant, p_submission_id, p_key_operation, p_key_hash)
          )::formbridge.committed;
      END IF;
      at := formbridge.now_ms();
      IF at > p_not_after THEN
        RAISE EXCEPTION 'the deadline passed while waiting' USING ERRCODE = 'FB001', DETAIL = at::text;
      END IF;

      IF p_token_hash IS NOT NULL THEN
        INSERT INTO formbridge.tokens
          VALUES (p_tenant, p_submission_id, p_version, p_token_hash, p_intake_id, p_token_epoch, p_token_issued_at,
                  p_token_expires_at);
      END IF;

      PERFORM pg_advisory_xact_lock_shared(formbridge.position_lock(formbridge.last_position()));
      INSERT INTO formbridge.events (tenant, submission_id, intake_id, event_id, stream, seq, type, ts, state, version,
          actor, payload, actor_salt, actor_digest, payload_salt, payload_digest, prev_hash, hash)
        SELECT p_tenant, p_submission_id, p_intake_id, e.*
          FROM (SELECT * FROM json_populate_recordset(NULL::formbridge.new_event, p_events)
                UNION ALL SELECT * FROM unnest(chained)) AS e;

      IF p_ended_at IS NOT NULL AND was_ended_at IS NULL AND p_expected_revision IS NOT NULL THEN
        UPDATE formbridge.records AS r
           SET live_until = formbridge.live_until(r.expires_at, r.keep_after_end_ms, p_ended_at)
         WHERE r.tenant = p_tenant AND r.submission_id = p_submission_id AND r.keep_after_end_ms IS NOT NULL;
      END IF;
      IF p_key_hash IS NOT NULL THEN
        INSERT INTO formbridge.records AS r
          VALUES (p_tenant, p_intake_id, p_key_operation, p_key_hash, p_submission_id, p_key_fingerprint,
                  p_key_principal, p_key_carried_version, p_key_failed, p_key_answer, p_key_answer_by, at,
                  p_key_expires_at, p_key_keep_after_end_ms,
                  formbridge.live_until(p_key_expires_at, p_key_keep_after_end_ms, p_ended_at))
          ON CONFLICT (tenant, intake_id, operation, hash) DO UPDATE
            SET submission_id = EXCLUDED.submission_id, fingerprint = EXCLUDED.fingerprint,
                principal = EXCLUDED.principal, carried_version = EXCLUDED.carried_version, failed = EXCLUDED.failed,
                answer = EXCLUDED.answer, answer_by = EXCLUDED.answer_by, recorded_at = EXCLUDED.recorded_at,
                expires_at = EXCLUDED.expires_at, keep_after_end_ms = EXCLUDED.keep_after_end_ms,
                live_until = EXCLUDED.live_until
            WHERE r.live_until <= at OR r.fingerprint = p_key_replaces;
        IF NOT FOUND THEN
          RAISE unique_violation USING MESSAGE = 'a live record is never overwritten';
        END IF;
      END IF;

      IF p_handoffs IS NOT NULL THEN
        INSERT INTO formbridge.handoffs
          SELECT p_tenant, p_submission_id, h.handoff_id, h.forget_after, h.doc
            FROM json_populate_recordset(NULL::formbridge.new_handoff, p_handoffs) AS h
          ON CONFLICT (tenant, submission_id, handoff_id) DO UPDATE
            SET forget_after = EXCLUDED.forget_after, doc = EXCLUDED.doc;
        DELETE FROM formbridge.handoff_keys AS k
         USING json_populate_recordset(NULL::formbridge.new_handoff, p_handoffs) AS h
         WHERE k.tenant = p_tenant AND k.submission_id = p_submission_id AND k.handoff_id = h.handoff_id;
        INSERT INTO formbridge.handoff_keys
          SELECT key.hash, p_tenant, p_submission_id, h.handoff_id
            FROM json_populate_recordset(NULL::formbridge.new_handoff, p_handoffs) AS h, unnest(h.hashes) AS key (hash);
      END IF;

      IF p_drop_jobs IS NOT NULL THEN
        DELETE FROM formbridge.jobs AS j WHERE j.tenant = p_tenant AND j.key = ANY (p_drop_jobs);
      END IF;
      IF p_jobs IS NOT NULL THEN
        INSERT INTO formbridge.jobs (tenant, key, kind, lane, submission_id, run_at)
          SELECT p_tenant, j.key, j.kind, j.lane, p_submission_id, j.run_at
            FROM json_populate_recordset(NULL::formbridge.new_job, p_jobs) AS j
          ON CONFLICT (tenant, key) DO UPDATE
            SET kind = EXCLUDED.kind, lane = EXCLUDED.lane, submission_id = EXCLUDED.submission_id, run_at = EXCLUDED.run_at, attempt = 0,
                leased_until = 0;
      END IF;
      RETURN ROW('committed', at, nothing)::formbridge.committed;
    END
    $$;
  `,
};
