import type { Migration } from "./migration.ts";

/**
 * What has ended is found by the definition it was created with, which says how long it is kept; only the indexes of ended
 * submissions pay for it. Every record is in one of two indexes by its submission: in this one, or in `records_kept`.
 */
export const retention: Migration = {
  id: 10,
  name: "retention",
  sql: `
    CREATE INDEX submissions_to_erase ON formbridge.submissions (definition, ended_at)
      WHERE ended_at IS NOT NULL AND erased_at IS NULL;
    CREATE INDEX submissions_to_remove ON formbridge.submissions (erased_at) WHERE erased_at IS NOT NULL;
    CREATE INDEX records_of_submission ON formbridge.records (tenant, submission_id) WHERE keep_after_end_ms IS NULL;

    -- What a commit that erases takes beside its row; in its transaction, which holds the row.
    CREATE FUNCTION formbridge.erase_rest(
      p_tenant text, p_submission_id text, p_created_by text, p_erased_at bigint, p_kept_events text[],
      p_fingerprint text, p_principal text
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE formbridge.submissions AS s SET created_by = p_created_by, sealed_token = '', erased_at = p_erased_at
       WHERE s.tenant = p_tenant AND s.submission_id = p_submission_id;
      UPDATE formbridge.events AS e SET actor = NULL, actor_salt = NULL, payload = NULL, payload_salt = NULL
       WHERE e.tenant = p_tenant AND e.submission_id = p_submission_id AND e.event_id <> ALL (p_kept_events);
      DELETE FROM formbridge.tokens AS t WHERE t.tenant = p_tenant AND t.submission_id = p_submission_id;
      DELETE FROM formbridge.handoffs AS h WHERE h.tenant = p_tenant AND h.submission_id = p_submission_id;
      DELETE FROM formbridge.review_links AS l WHERE l.tenant = p_tenant AND l.submission_id = p_submission_id;
      UPDATE formbridge.records AS r SET fingerprint = p_fingerprint, principal = p_principal, answer = '', answer_by = NULL
       WHERE r.tenant = p_tenant AND r.submission_id = p_submission_id AND r.keep_after_end_ms IS NOT NULL;
      UPDATE formbridge.records AS r SET fingerprint = p_fingerprint, principal = p_principal, answer = '', answer_by = NULL
       WHERE r.tenant = p_tenant AND r.submission_id = p_submission_id AND r.keep_after_end_ms IS NULL;
      RETURN true;
    END
    $$;

    CREATE FUNCTION formbridge.remove_erased(before bigint, at_most integer) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      gone  record;
      count bigint := 0;
    BEGIN
      FOR gone IN
        SELECT s.tenant, s.submission_id FROM formbridge.submissions AS s
         WHERE s.erased_at IS NOT NULL AND s.erased_at < before
         ORDER BY s.erased_at LIMIT at_most FOR UPDATE SKIP LOCKED
      LOOP
        DELETE FROM formbridge.events AS e WHERE e.tenant = gone.tenant AND e.submission_id = gone.submission_id;
        DELETE FROM formbridge.records AS r
         WHERE r.tenant = gone.tenant AND r.submission_id = gone.submission_id AND r.keep_after_end_ms IS NOT NULL;
        DELETE FROM formbridge.records AS r
         WHERE r.tenant = gone.tenant AND r.submission_id = gone.submission_id AND r.keep_after_end_ms IS NULL;
        DELETE FROM formbridge.submissions AS s WHERE s.tenant = gone.tenant AND s.submission_id = gone.submission_id;
        count := count + 1;
      END LOOP;
      RETURN count;
    END
    $$;
  `,
};
