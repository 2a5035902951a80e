import type { Block, Blocks, Incident, IncidentFilter, Incidents } from "@formbridge/core";
import { type SqlDialect, type SqlRunner, statement } from "./sql.ts";
import { columnsOf, docOf, type Row, toJson, valuesOf } from "./table.ts";
import { blocks, incidents } from "./tables.ts";

const rowOf = (incident: Incident): Row<typeof incidents> => ({
  incident_id: incident.incidentId,
  tenant: incident.tenant,
  cause: incident.cause,
  number: incident.number,
  revision: incident.revision,
  kind: incident.kind,
  state: incident.state,
  submission_id: incident.evidence.submissionId ?? null,
  last_seen_at: incident.lastSeenAt,
  due_at: incident.due?.at ?? null,
  doc: toJson(incident),
});

const filterOf = ({ tenant, state, kind, submissionId }: IncidentFilter): (string | null)[] => [
  tenant,
  state ?? null,
  kind ?? null,
  submissionId ?? null,
];

/** The same statements for both SQL stores. */
export function createIncidents({ sql, pick, places }: SqlDialect, { read, write }: SqlRunner): Incidents {
  const DOC = pick(incidents, "i", "doc");
  const ID = pick(incidents, "incidents", "incident_id");
  const FILTER = `i.tenant = $1 AND (CAST($2 AS text) IS NULL OR i.state = $2) AND (CAST($3 AS text) IS NULL OR i.kind = $3)
    AND (CAST($4 AS text) IS NULL OR i.submission_id = $4)`;
  const ADD = statement(
    "add_incident",
    sql`INSERT INTO ${incidents} (${columnsOf(incidents).join(", ")}) VALUES (${places(incidents, columnsOf(incidents)).join(", ")})
      ON CONFLICT DO NOTHING RETURNING ${ID}`,
  );
  const GET = statement(
    "get_incident",
    sql`SELECT ${DOC} FROM ${incidents} AS i WHERE i.incident_id = $1 AND i.tenant = $2`,
  );
  const LATEST = statement(
    "latest_incident",
    sql`SELECT ${DOC} FROM ${incidents} AS i WHERE i.cause = $1 ORDER BY i.number DESC LIMIT 1`,
  );
  const UPDATE = statement(
    "update_incident",
    sql`UPDATE ${incidents} SET revision = $1, state = $2, last_seen_at = $3, due_at = $4, doc = $5
      WHERE incident_id = $6 AND revision = $7 RETURNING ${ID}`,
  );
  const LIST = statement(
    "list_incidents",
    sql`SELECT ${DOC} FROM ${incidents} AS i WHERE ${FILTER} AND (CAST($5 AS text) IS NULL OR i.incident_id < $5)
      ORDER BY i.incident_id DESC LIMIT $6`,
  );
  const COUNTED = statement(
    "count_incidents",
    sql`SELECT ${pick(incidents, "i", "number")} FROM ${incidents} AS i WHERE ${FILTER} LIMIT $5`,
  );
  const DUE = statement(
    "due_incidents",
    sql`SELECT ${DOC} FROM ${incidents} AS i WHERE i.due_at < $1 ORDER BY i.due_at LIMIT $2`,
  );
  const FORGET = statement(
    "forget_incidents",
    sql`DELETE FROM ${incidents} WHERE incident_id IN (SELECT i.incident_id FROM ${incidents} AS i
      WHERE i.state = 'closed' AND i.last_seen_at < $1 ORDER BY i.last_seen_at LIMIT $2) RETURNING ${ID}`,
  );
  return {
    add: async (incident) => {
      const added = await write(ADD, valuesOf(columnsOf(incidents), rowOf(incident)));
      return added.length === 1;
    },
    get: async ({ tenant, incidentId }) => (await read(GET, [incidentId, tenant])).map(docOf)[0],
    latest: async (cause) => (await read(LATEST, [cause])).map(docOf)[0],
    update: async (incident) => {
      const { revision, state, last_seen_at, due_at, doc, incident_id } = rowOf(incident);
      const values = [revision, state, last_seen_at, due_at, doc, incident_id, revision - 1];
      return (await write(UPDATE, values)).length === 1;
    },
    list: async (where, limit) => (await read(LIST, [...filterOf(where), where.after ?? null, limit])).map(docOf),
    count: async (where, atMost) => (await read(COUNTED, [...filterOf(where), atMost])).length,
    due: async (before, limit) => (await read(DUE, [before, limit])).map(docOf),
    forget: async (before, limit) => (await write(FORGET, [before, limit])).length,
  };
}

export function createBlocks({ sql, pick, places }: SqlDialect, { read, write }: SqlRunner): Blocks {
  const ID = pick(blocks, "blocks", "block_id");
  const ADD = statement(
    "add_block",
    sql`INSERT INTO ${blocks} (${columnsOf(blocks).join(", ")}) VALUES (${places(blocks, columnsOf(blocks)).join(", ")})
      ON CONFLICT DO NOTHING RETURNING ${ID}`,
  );
  const REMOVE = statement(
    "remove_block",
    sql`DELETE FROM ${blocks} WHERE block_id = $1 AND tenant = $2 RETURNING ${ID}`,
  );
  const LIST = statement(
    "list_blocks",
    sql`SELECT ${pick(blocks, "b", "doc")} FROM ${blocks} AS b WHERE b.ends_at > $1 AND b.block_id > $2
      AND (CAST($3 AS text) IS NULL OR b.tenant = $3) ORDER BY b.block_id LIMIT $4`,
  );
  const FORGET = statement(
    "forget_blocks",
    sql`DELETE FROM ${blocks} WHERE block_id IN (SELECT b.block_id FROM ${blocks} AS b
      WHERE b.ends_at < $1 ORDER BY b.ends_at LIMIT $2) RETURNING ${ID}`,
  );
  return {
    add: async (block: Block) => {
      await write(ADD, [block.blockId, block.tenant, block.endsAt, toJson(block)]);
    },
    remove: async ({ tenant, blockId }) => (await write(REMOVE, [blockId, tenant])).length === 1,
    list: async ({ tenant, after = "", from }, limit) =>
      (await read(LIST, [from, after, tenant ?? null, limit])).map(docOf),
    forget: async (before, limit) => (await write(FORGET, [before, limit])).length,
  };
}
