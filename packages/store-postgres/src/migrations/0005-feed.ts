import type { Migration } from "./migration.ts";

/**
 * The feed of all events, so that none is skipped that commits later than one that was shown.
 *
 * A write that is running may hold any position above the one where it began, and says where that was by a lock. So whoever
 * reads 1. notes the last position drawn, 2. looks at the locks, 3. reads, in this order, up to the least of them. A
 * position at or below it belongs to a write that had drawn it before 1 and held no lock at 2: it was over before 3.
 *
 * A window bounds what is read for one page; several are tried, so that what nobody wants is passed over quickly.
 */
export const feed: Migration = {
  id: 5,
  name: "feed",
  sql: `
    CREATE FUNCTION formbridge.feed_horizon() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
      drawn   bigint := formbridge.last_position();
      running bigint;
    BEGIN
      SELECT min(((l.classid::bigint & 16777215) << 32) | l.objid::bigint) INTO running
        FROM pg_locks AS l
       WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.classid::bigint >> 24 = 70 AND l.granted
         AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database());
      RETURN least(drawn, running);
    END
    $$;

    -- The events of a page, and at last a row that tells how far it looked.
    CREATE FUNCTION formbridge.feed(
      in_tenant text, after bigint, wanted integer, max_size bigint, in_streams text[], of_types text[],
      of_intakes text[], from_ts text, until_ts text
    ) RETURNS TABLE (looked_to bigint, page_event formbridge.events) LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
      horizon  bigint := formbridge.feed_horizon();
      start    bigint := after;
      last     bigint;
      seen     bigint;
    BEGIN
      FOR window_number IN 1..10 LOOP
        SELECT count(*), max(w.position) INTO seen, last
          FROM (SELECT e.position FROM formbridge.events AS e
                 WHERE e.tenant = in_tenant AND e.position > start AND e.position <= horizon
                 ORDER BY e.position LIMIT 5000) AS w;
        IF seen = 0 THEN
          RETURN QUERY SELECT greatest(horizon, after), NULL::formbridge.events;
          RETURN;
        END IF;
        RETURN QUERY
          SELECT NULL::bigint, p.e
            FROM (SELECT f.e, (f.e).position AS position, row_number() OVER w AS place,
                         sum(octet_length((f.e).payload)) OVER w AS size
                    FROM (SELECT e FROM formbridge.events AS e
                           WHERE e.tenant = in_tenant AND e.position > start AND e.position <= last
                             AND e.stream = ANY (in_streams)
                             AND (of_types IS NULL OR e.type = ANY (of_types))
                             AND (of_intakes IS NULL OR e.intake_id = ANY (of_intakes))
                             AND (from_ts IS NULL OR e.ts >= from_ts) AND (until_ts IS NULL OR e.ts < until_ts)
                           ORDER BY e.position LIMIT wanted) AS f
                  WINDOW w AS (ORDER BY (f.e).position)) AS p
           WHERE p.place = 1 OR coalesce(p.size, 0) <= max_size
           ORDER BY p.position;
        IF FOUND THEN
          RETURN;
        END IF;
        start := last;
      END LOOP;
      RETURN QUERY SELECT start, NULL::formbridge.events;
    END
    $$;
  `,
};
