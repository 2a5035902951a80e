import type { Migration } from "./migration.ts";

/**
 * One answer for every way to ask: what was not asked for, or is not there, is NULL. The functions are STABLE, so each of them
 * sees one moment of the database: a submission and the record that was committed with it appear together.
 */
export const load: Migration = {
  id: 3,
  name: "load",
  sql: `
    CREATE TYPE formbridge.loaded AS (
      now                      bigint,
      doc                      text,
      sealed_fields            text,
      sealed_token             text,
      token_submission_id      text,
      token_tenant             text,
      token_intake_id          text,
      token_version            bigint,
      token_epoch              bigint,
      token_issued_at          bigint,
      token_expires_at         bigint,
      token_rotated_at         bigint,
      definition_digest        text,
      definition_tenant        text,
      handoff                  text,
      record_operation         text,
      record_hash              text,
      record_submission_id     text,
      record_fingerprint       text,
      record_principal         text,
      record_carried_version   bigint,
      record_failed            boolean,
      record_answer            text,
      record_answer_by         bigint,
      record_recorded_at       bigint,
      record_expires_at        bigint,
      record_keep_after_end_ms bigint
    );

    CREATE FUNCTION formbridge.with_record(
      result formbridge.loaded, in_tenant text, in_intake text, for_operation text, for_hash text
    ) RETURNS formbridge.loaded LANGUAGE plpgsql STABLE AS $$
    BEGIN
      SELECT r.operation, r.hash, r.submission_id, r.fingerprint, r.principal, r.carried_version, r.failed, r.answer,
             r.answer_by, r.recorded_at, r.expires_at, r.keep_after_end_ms
        INTO result.record_operation, result.record_hash, result.record_submission_id, result.record_fingerprint,
             result.record_principal, result.record_carried_version, result.record_failed, result.record_answer,
             result.record_answer_by, result.record_recorded_at, result.record_expires_at, result.record_keep_after_end_ms
        FROM formbridge.records AS r
       WHERE r.tenant = in_tenant AND r.intake_id = in_intake AND r.operation = for_operation AND r.hash = for_hash
         AND (r.live_until IS NULL OR r.live_until > result.now);
      RETURN result;
    END
    $$;

    CREATE FUNCTION formbridge.load_by_id(
      in_tenant text, id text, for_operation text, for_hash text
    ) RETURNS formbridge.loaded LANGUAGE plpgsql STABLE AS $$
    DECLARE
      result formbridge.loaded;
      intake text;
    BEGIN
      result.now := formbridge.now_ms();
      SELECT s.doc, s.sealed_fields, s.sealed_token, s.intake_id
        INTO result.doc, result.sealed_fields, result.sealed_token, intake
        FROM formbridge.submissions AS s WHERE s.tenant = in_tenant AND s.submission_id = id;
      IF intake IS NULL OR for_hash IS NULL THEN
        RETURN result;
      END IF;
      RETURN formbridge.with_record(result, in_tenant, intake, for_operation, for_hash);
    END
    $$;

    CREATE FUNCTION formbridge.load_by_session(
      session text, for_operation text, for_hash text
    ) RETURNS formbridge.loaded LANGUAGE plpgsql STABLE AS $$
    DECLARE
      result formbridge.loaded;
      found  formbridge.handoffs;
    BEGIN
      SELECT h.* INTO found
        FROM formbridge.handoff_keys AS k
        JOIN formbridge.handoffs AS h
          ON h.tenant = k.tenant AND h.submission_id = k.submission_id AND h.handoff_id = k.handoff_id
       WHERE k.hash = session;
      result := formbridge.load_by_id(found.tenant, found.submission_id, for_operation, for_hash);
      result.handoff := found.doc;
      RETURN result;
    END
    $$;

    CREATE FUNCTION formbridge.load_by_token(
      token text, for_operation text, for_hash text
    ) RETURNS formbridge.loaded LANGUAGE plpgsql STABLE AS $$
    DECLARE
      result formbridge.loaded;
      current_version bigint;
    BEGIN
      result.now := formbridge.now_ms();
      SELECT t.submission_id, t.tenant, t.intake_id, t.version, t.epoch, t.issued_at, t.expires_at,
             s.doc, s.sealed_fields, s.sealed_token, s.version
        INTO result.token_submission_id, result.token_tenant, result.token_intake_id, result.token_version, result.token_epoch,
             result.token_issued_at, result.token_expires_at,
             result.doc, result.sealed_fields, result.sealed_token, current_version
        FROM formbridge.tokens AS t
        JOIN formbridge.submissions AS s ON s.tenant = t.tenant AND s.submission_id = t.submission_id
       WHERE t.hash = token;
      IF result.token_version < current_version THEN
        SELECT n.issued_at INTO result.token_rotated_at FROM formbridge.tokens AS n
         WHERE n.tenant = result.token_tenant AND n.submission_id = result.token_submission_id
           AND n.version > result.token_version
         ORDER BY n.version LIMIT 1;
      END IF;
      IF result.token_version IS NULL OR for_hash IS NULL THEN
        RETURN result;
      END IF;
      RETURN formbridge.with_record(result, result.token_tenant, result.token_intake_id, for_operation, for_hash);
    END
    $$;

    CREATE FUNCTION formbridge.load_by_intake(
      intake text, for_operation text, for_hash text
    ) RETURNS formbridge.loaded LANGUAGE plpgsql STABLE AS $$
    DECLARE
      result formbridge.loaded;
      owner text;
    BEGIN
      result.now := formbridge.now_ms();
      SELECT i.tenant, CASE WHEN i.retired THEN NULL ELSE i.digest END, CASE WHEN i.retired THEN NULL ELSE i.tenant END
        INTO owner, result.definition_digest, result.definition_tenant
        FROM formbridge.intakes AS i WHERE i.id = intake;
      IF owner IS NULL OR for_hash IS NULL THEN
        RETURN result;
      END IF;
      RETURN formbridge.with_record(result, owner, intake, for_operation, for_hash);
    END
    $$;
  `,
};
