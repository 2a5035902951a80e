import type { Migration } from "./migration.ts";

/** `now_ms` is the only clock there is: whoever replaces it, as tests do, moves the time of everything. */
export const clock: Migration = {
  id: 2,
  name: "clock",
  sql: `
    CREATE FUNCTION formbridge.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
      SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    $$;
  `,
};
