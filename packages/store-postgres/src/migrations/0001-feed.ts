/**
 * The feed of all events. It never skips an event that commits later than one with a higher position.
 *
 * A write in flight may get any position above the last one assigned when it began, and holds a shared lock whose number is that
 * position. A reader notes the last position assigned, then finds the lowest of these locks, then reads up to the lower of the two. Any
 * position up to there was assigned before the first step to a write that no longer held its lock at the second, so it has committed.
 *
 * A page reads windows of bounded size, and up to ten of them, so that events that don't match are skipped quickly.
 */
export const FEED = `
  CREATE FUNCTION formbridge.last_position() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    RETURN (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM formbridge.positions);
  END
  $$;

  -- The first byte, 0x46, distinguishes these locks from others.
  CREATE FUNCTION formbridge.position_lock(began bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT (70::bigint << 56) | began
  $$;

  CREATE FUNCTION formbridge.feed_horizon() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
  DECLARE
    drawn     bigint := formbridge.last_position();
    in_flight bigint;
  BEGIN
    SELECT min(((l.classid::bigint & 16777215) << 32) | l.objid::bigint) INTO in_flight
      FROM pg_locks AS l
     WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.classid::bigint >> 24 = 70 AND l.granted
       AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database());
    RETURN least(drawn, in_flight);
  END
  $$;

  -- The events of a page, or one row that says how far it has read.
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
`;
