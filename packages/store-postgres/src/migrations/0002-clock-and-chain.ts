import type { Migration } from "./migration.ts";

/** `now_ms` is the only clock there is: whoever replaces it, as tests do, moves the time of everything. */
export const clockAndChain: Migration = {
  id: 2,
  name: "clock and chain",
  sql: `
    CREATE FUNCTION formbridge.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
      SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    $$;

    -- An event as a change brings it. Those of the streams that the store chains come without place and hashes.
    CREATE TYPE formbridge.new_event AS (
      event_id        text,
      stream          text,
      seq             bigint,
      type            text,
      ts              text,
      state           text,
      version         bigint,
      actor           text,
      payload         text,
      actor_salt      text,
      actor_digest    text,
      payload_salt    text,
      payload_digest  text,
      prev_hash       text,
      hash            text
    );

    -- The text that the domain's hash covers, letter by letter: canonical JSON of the envelope.
    CREATE FUNCTION formbridge.chain_hash(submission_id text, event formbridge.new_event) RETURNS text
    LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN
      RETURN encode(sha256(convert_to(
        '{"actorDigest":"' || event.actor_digest || '","eventId":"' || event.event_id
        || '","payloadDigest":"' || event.payload_digest || '","prevHash":"' || event.prev_hash
        || '","seq":' || event.seq || ',"state":"' || event.state || '","stream":"' || event.stream
        || '","submissionId":"' || submission_id || '","ts":"' || event.ts || '","type":"' || event.type
        || '","version":' || event.version || '}', 'UTF8')), 'hex');
    END
    $$;
  `,
};
