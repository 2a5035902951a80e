import type { Migration } from "./migration.ts";

/**
 * What one commit tells is one row, as `writer/resting-events.ts` describes it: three rows with seventeen columns each took the
 * writing thread a third of its time for a create. `position` is that of the row's last event, and the others' are those just
 * before it, so positions stay what they were. Nothing is numbered by SQLite: the next row takes what follows the last one, and
 * whoever removes the last one leaves an empty row in its place.
 *
 * `said` comes last: it may be large, and looking for events must not read it.
 *
 * The view is for whoever looks into the file, and for copies of all of it.
 */
export const oneRowACommit: Migration = {
  id: 7,
  name: "one row a commit",
  sql: `
    CREATE TABLE commits (
      position  INTEGER PRIMARY KEY,
      sid       INTEGER NOT NULL,
      tenant    TEXT NOT NULL,
      events    TEXT NOT NULL,
      hashes    BLOB NOT NULL,
      said      TEXT NOT NULL
    ) STRICT;
    INSERT INTO commits (position, sid, tenant, events, hashes, said)
      SELECT position, sid, tenant, json_array(json_array(stream, seq, event_id, type, ts, state, version)),
        unhex(hex(prev_hash) || hex(hash) || hex(actor_digest) || hex(payload_digest)),
        json_array(json_array(json(actor), actor_salt, json(payload), payload_salt))
      FROM events ORDER BY position;
    INSERT INTO commits (position, sid, tenant, events, hashes, said)
      SELECT seq, 0, '', '[]', x'', '[]' FROM sqlite_sequence
      WHERE name = 'events' AND seq > (SELECT coalesce(max(position), 0) FROM commits);
    CREATE INDEX commits_by_submission ON commits (sid);
    DROP TABLE events;

    CREATE VIEW events AS
      SELECT c.position - json_array_length(c.events) + 1 + e.key AS position, c.position AS commit_position, c.sid, c.tenant,
        e.value ->> 0 AS stream, e.value ->> 1 AS seq, e.value ->> 2 AS event_id, e.value ->> 3 AS type, e.value ->> 4 AS ts,
        e.value ->> 5 AS state, e.value ->> 6 AS version,
        nullif(c.said -> e.key -> 0, 'null') AS actor, c.said -> e.key ->> 1 AS actor_salt,
        nullif(c.said -> e.key -> 2, 'null') AS payload, c.said -> e.key ->> 3 AS payload_salt,
        lower(hex(substr(c.hashes, 1 + 128 * e.key, 32))) AS prev_hash,
        lower(hex(substr(c.hashes, 33 + 128 * e.key, 32))) AS hash,
        lower(hex(substr(c.hashes, 65 + 128 * e.key, 32))) AS actor_digest,
        lower(hex(substr(c.hashes, 97 + 128 * e.key, 32))) AS payload_digest
      FROM commits AS c CROSS JOIN json_each(c.events) AS e;
  `,
};
