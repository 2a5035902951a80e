import type { Migration } from "./migration.ts";

/** Everything that a change writes beside the row, in the statement that writes the row: `written` is the row, or nothing. */
const WITH_THE_REST = `
        token AS (
          INSERT INTO formbridge.tokens
            SELECT p_tenant, p_submission_id, p_version, p_token_hash, p_intake_id, p_token_epoch, p_token_issued_at,
                   p_token_expires_at
              FROM written WHERE p_token_hash IS NOT NULL),
        history AS (
          INSERT INTO formbridge.events (tenant, submission_id, intake_id, event_id, stream, seq, type, ts, state, version,
              actor, payload, actor_salt, actor_digest, payload_salt, payload_digest, prev_hash, hash)
            SELECT p_tenant, p_submission_id, p_intake_id, p_events[n], p_events[n + 1], p_events[n + 2]::bigint,
                   p_events[n + 3], p_events[n + 4], p_events[n + 5], p_events[n + 6]::bigint, p_events[n + 7],
                   p_events[n + 8], p_events[n + 9], p_events[n + 10], p_events[n + 11], p_events[n + 12],
                   p_events[n + 13], p_events[n + 14]
              FROM written, generate_series(1, (SELECT cardinality(p_events)), 15) AS n)
        SELECT formbridge.now_ms() INTO at FROM written;`;

/**
 * A whole write in one call. It refuses before it writes anything, in the port's order: key, revision, deadline.
 *
 * - Commits under one key go one after the other, by a lock on the key that ends with the transaction. Whoever waited looks
 *   after the one before is done, and finds its record. The records' primary key backs it: a live one is never overwritten.
 * - The row is read without a lock: a revision that has moved never comes back, so most who are late leave without a trace.
 *   The UPDATE names the revision again and waits for a writer who was faster. As long as the revision is the same, so are the
 *   ends of the chains.
 * - That wait may outlast the deadline, so it is looked at again; what is written by then is undone by an error.
 * - A change in a group (`p_may_wait` is false) waits for nobody: others would wait with it, and two groups for each other. It takes
 *   its row if that is free, and is otherwise told to come alone.
 * - Positions are drawn under a lock that tells readers of the feed where this write began, see feed_horizon.
 *
 * Events come as one array, fifteen texts each in the order of the columns, those that are chained here at its end. These
 * bring, in the places of `prev_hash` and `hash`, the text that the domain's hash covers, cut open where the chain's end goes.
 *
 * A statement and an expression cost the more the more often a transaction begins, whatever they do. So row, token and
 * events are one statement, and what most writes don't have is one argument that is NULL.
 */
export const commit: Migration = {
  id: 4,
  name: "commit",
  sql: `
    CREATE TYPE formbridge.new_record AS (
      operation text, hash text, replaces text, fingerprint text, principal text, carried_version bigint, failed boolean,
      answer text, answer_by bigint, expires_at bigint, keep_after_end_ms bigint
    );
    CREATE TYPE formbridge.new_handoff AS (handoff_id text, forget_after bigint, doc text, hashes text[]);
    CREATE TYPE formbridge.new_job AS (key text, kind text, lane text, run_at bigint);

    CREATE FUNCTION formbridge.last_position() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      RETURN (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM formbridge.positions);
    END
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
      p_definition text,
      p_token_hash text, p_token_sealed text, p_token_epoch bigint, p_token_issued_at bigint, p_token_expires_at bigint,
      p_events text[], p_chained integer, p_record json, p_handoffs json, p_jobs json, p_drop_jobs text[], p_may_wait boolean
    ) RETURNS json LANGUAGE plpgsql AS $$
    DECLARE
      kept          formbridge.new_record;
      taken         formbridge.loaded;
      at_revision   bigint;
      was_ended_at  bigint;
      own_token_seq     bigint := 0;
      own_token_hash    text := '${"0".repeat(64)}';
      own_idem_seq      bigint := 0;
      own_idem_hash     text := own_token_hash;
      chained       text;
      at            bigint;
    BEGIN
      IF p_record IS NOT NULL THEN
        kept := json_populate_record(kept, p_record);
        PERFORM pg_advisory_xact_lock(hashtext(kept.hash), hashtext(kept.operation || p_intake_id || ' ' || p_tenant));
        taken.now := formbridge.now_ms();
        taken := formbridge.with_record(taken, p_tenant, p_intake_id, kept.operation, kept.hash);
        IF taken.record_fingerprint IS NOT NULL AND taken.record_fingerprint IS DISTINCT FROM kept.replaces THEN
          RETURN json_build_object('kind', 'key_taken', 'loaded', row_to_json(taken));
        END IF;
      END IF;

      IF p_expected_revision IS NOT NULL THEN
        IF NOT p_may_wait THEN
          SELECT s.revision, s.ended_at, s.token_seq, s.token_hash, s.idem_seq, s.idem_hash, formbridge.now_ms()
            INTO at_revision, was_ended_at, own_token_seq, own_token_hash, own_idem_seq, own_idem_hash, at
            FROM formbridge.submissions AS s
           WHERE s.tenant = p_tenant AND s.submission_id = p_submission_id AND s.revision = p_expected_revision
             FOR NO KEY UPDATE SKIP LOCKED;
        END IF;
        IF at_revision IS NULL THEN
          SELECT s.revision, s.ended_at, s.token_seq, s.token_hash, s.idem_seq, s.idem_hash, formbridge.now_ms()
            INTO at_revision, was_ended_at, own_token_seq, own_token_hash, own_idem_seq, own_idem_hash, at
            FROM formbridge.submissions AS s WHERE s.tenant = p_tenant AND s.submission_id = p_submission_id;
          IF at_revision IS DISTINCT FROM p_expected_revision THEN
            RETURN json_build_object('kind', 'stale', 'loaded',
              row_to_json(formbridge.load_by_id(p_tenant, p_submission_id, kept.operation, kept.hash)));
          END IF;
          IF NOT p_may_wait THEN
            RETURN json_build_object('kind', 'not_at_once');
          END IF;
        END IF;
        IF at > p_not_after THEN
          RETURN json_build_object('kind', 'too_late', 'at', at);
        END IF;
      END IF;

      FOR n IN cardinality(p_events) - 15 * p_chained + 1 .. cardinality(p_events) BY 15 LOOP
        IF p_events[n + 1] = 'token' THEN
          own_token_seq := own_token_seq + 1;
          chained := encode(sha256(convert_to(
            p_events[n + 13] || own_token_hash || '","seq":' || own_token_seq || p_events[n + 14], 'UTF8')), 'hex');
          p_events[n + 2] := own_token_seq;
          p_events[n + 13] := own_token_hash;
          own_token_hash := chained;
        ELSE
          own_idem_seq := own_idem_seq + 1;
          chained := encode(sha256(convert_to(
            p_events[n + 13] || own_idem_hash || '","seq":' || own_idem_seq || p_events[n + 14], 'UTF8')), 'hex');
          p_events[n + 2] := own_idem_seq;
          p_events[n + 13] := own_idem_hash;
          own_idem_hash := chained;
        END IF;
        p_events[n + 14] := chained;
      END LOOP;

      PERFORM pg_advisory_xact_lock_shared(formbridge.position_lock(formbridge.last_position()));
      IF p_expected_revision IS NULL THEN
        WITH written AS (
          INSERT INTO formbridge.submissions
            VALUES (p_tenant, p_submission_id, p_intake_id, p_created_by, p_created_at, p_state, p_editable, p_expires_at,
                    p_warn_at, p_ended_at, p_version, p_revision, own_token_seq, own_token_hash, own_idem_seq,
                    own_idem_hash, p_token_sealed, p_sealed_fields, p_doc, p_definition)
            ON CONFLICT DO NOTHING RETURNING 1),${WITH_THE_REST}
      ELSE
        WITH written AS (
          UPDATE formbridge.submissions AS s
             SET state = p_state, editable = p_editable, expires_at = p_expires_at, warn_at = p_warn_at,
                 ended_at = p_ended_at, version = p_version, revision = p_revision,
                 token_seq = own_token_seq, token_hash = own_token_hash,
                 idem_seq = own_idem_seq, idem_hash = own_idem_hash,
                 sealed_token = coalesce(p_token_sealed, s.sealed_token), sealed_fields = p_sealed_fields, doc = p_doc
           WHERE s.tenant = p_tenant AND s.submission_id = p_submission_id AND s.revision = p_expected_revision
          RETURNING 1),${WITH_THE_REST}
      END IF;
      IF NOT FOUND THEN
        RETURN json_build_object('kind', 'stale', 'loaded',
          row_to_json(formbridge.load_by_id(p_tenant, p_submission_id, kept.operation, kept.hash)));
      END IF;
      IF at > p_not_after THEN
        RAISE EXCEPTION 'the deadline passed while waiting' USING ERRCODE = 'FB001', DETAIL = at::text;
      END IF;

      IF p_ended_at IS NOT NULL AND was_ended_at IS NULL AND p_expected_revision IS NOT NULL THEN
        UPDATE formbridge.records AS r
           SET live_until = formbridge.live_until(r.expires_at, r.keep_after_end_ms, p_ended_at)
         WHERE r.tenant = p_tenant AND r.submission_id = p_submission_id AND r.keep_after_end_ms IS NOT NULL;
      END IF;
      IF p_record IS NOT NULL THEN
        INSERT INTO formbridge.records AS r
          VALUES (p_tenant, p_intake_id, kept.operation, kept.hash, p_submission_id, kept.fingerprint,
                  kept.principal, kept.carried_version, kept.failed, kept.answer, kept.answer_by, at,
                  kept.expires_at, kept.keep_after_end_ms,
                  formbridge.live_until(kept.expires_at, kept.keep_after_end_ms, p_ended_at))
          ON CONFLICT (tenant, intake_id, operation, hash) DO UPDATE
            SET submission_id = EXCLUDED.submission_id, fingerprint = EXCLUDED.fingerprint,
                principal = EXCLUDED.principal, carried_version = EXCLUDED.carried_version, failed = EXCLUDED.failed,
                answer = EXCLUDED.answer, answer_by = EXCLUDED.answer_by, recorded_at = EXCLUDED.recorded_at,
                expires_at = EXCLUDED.expires_at, keep_after_end_ms = EXCLUDED.keep_after_end_ms,
                live_until = EXCLUDED.live_until
            WHERE r.live_until <= at OR r.fingerprint = kept.replaces;
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
            SET kind = EXCLUDED.kind, lane = EXCLUDED.lane, submission_id = EXCLUDED.submission_id,
                run_at = EXCLUDED.run_at, attempt = 0, leased_until = 0;
      END IF;
      RETURN json_build_object('kind', 'committed', 'at', at);
    END
    $$;
  `,
};
