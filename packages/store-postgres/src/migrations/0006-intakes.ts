import type { Migration } from "./migration.ts";

/** Definitions change rarely: one at a time, so that two that collide can't both be stored. */
export const intakes: Migration = {
  id: 6,
  name: "intakes",
  sql: `
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
      INSERT INTO formbridge.definitions VALUES (new_digest, in_tenant, new_definition) ON CONFLICT DO NOTHING;
      INSERT INTO formbridge.intakes VALUES (intake, in_tenant, from_source, new_digest, false, formbridge.now_ms())
        ON CONFLICT (id) DO UPDATE
          SET source = EXCLUDED.source, digest = EXCLUDED.digest, retired = false, updated_at = EXCLUDED.updated_at;
      RETURN 'stored';
    END
    $$;
  `,
};
