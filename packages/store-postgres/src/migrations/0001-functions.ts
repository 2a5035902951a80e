/** `now_ms` is the only clock: tests replace it to control time. */
export const FUNCTIONS = `
  CREATE FUNCTION formbridge.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
  $$;

  -- Rolls back a commit that wrote a record without its change, see commit-statement.ts.
  CREATE FUNCTION formbridge.undo() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    RAISE EXCEPTION 'a record without its change' USING ERRCODE = 'FB001';
  END
  $$;

  -- Definitions change rarely, so store one at a time: two with colliding names can't both be stored.
  CREATE FUNCTION formbridge.put_intake(
    intake text, in_tenant text, from_source text, new_digest text, new_definition text, expected_digest text
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    current_digest text;
    current_tenant text;
  BEGIN
    LOCK TABLE formbridge.intakes IN SHARE ROW EXCLUSIVE MODE;
    SELECT i.digest, i.tenant INTO current_digest, current_tenant FROM formbridge.intakes AS i WHERE i.id = intake;
    IF current_digest IS DISTINCT FROM expected_digest OR current_tenant <> in_tenant THEN
      RETURN 'changed';
    END IF;
    IF EXISTS (SELECT 1 FROM formbridge.intakes AS i
                WHERE replace(i.id, '-', '_') = replace(intake, '-', '_') AND i.id <> intake AND NOT i.retired) THEN
      RETURN 'collides';
    END IF;
    INSERT INTO formbridge.definitions (digest, tenant, definition) VALUES (new_digest, in_tenant, new_definition)
      ON CONFLICT DO NOTHING;
    INSERT INTO formbridge.intakes (id, tenant, source, digest, retired, updated_at)
      VALUES (intake, in_tenant, from_source, new_digest, false, formbridge.now_ms())
      ON CONFLICT (id) DO UPDATE
        SET source = EXCLUDED.source, digest = EXCLUDED.digest, retired = false, updated_at = EXCLUDED.updated_at;
    RETURN 'stored';
  END
  $$;
`;
