import type { Migration } from "./migration.ts";

/**
 * `as_of` is another one after every change of a key or an intake, so that a server which remembers them can ask whether what it
 * remembers still stands. It is set at the end of a transaction, in it: whoever sees the change sees the new one, and the row is held
 * for the commit alone. Drawn at random and not counted, so that it never comes back, not even with a dump.
 */
export const readCache: Migration = {
  id: 11,
  name: "read cache",
  sql: `
    CREATE TABLE formbridge.remembered (
      id     integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
      as_of  uuid NOT NULL
    );

    CREATE FUNCTION formbridge.forget_remembered() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO formbridge.remembered (as_of) VALUES (gen_random_uuid())
        ON CONFLICT (id) DO UPDATE SET as_of = EXCLUDED.as_of;
      RETURN NULL;
    END
    $$;

    CREATE CONSTRAINT TRIGGER forget_remembered AFTER INSERT OR UPDATE OR DELETE ON formbridge.api_keys
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION formbridge.forget_remembered();
    CREATE CONSTRAINT TRIGGER forget_remembered AFTER INSERT OR UPDATE OR DELETE ON formbridge.intakes
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION formbridge.forget_remembered();
    CREATE TRIGGER forget_all_remembered AFTER TRUNCATE ON formbridge.api_keys
      FOR EACH STATEMENT EXECUTE FUNCTION formbridge.forget_remembered();
    CREATE TRIGGER forget_all_remembered AFTER TRUNCATE ON formbridge.intakes
      FOR EACH STATEMENT EXECUTE FUNCTION formbridge.forget_remembered();
  `,
};
