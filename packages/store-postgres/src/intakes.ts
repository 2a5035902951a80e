import type { Intakes, StoredIntake } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";

const SELECT = `SELECT i.tenant, i.source, d.definition, i.digest, i.retired, i.updated_at AS "updatedAt"
  FROM formbridge.intakes AS i JOIN formbridge.definitions AS d ON d.digest = i.digest`;
const GET: Statement = { name: "get_intake", text: `${SELECT} WHERE i.id = $1` };
const LIST: Statement = {
  name: "list_intakes",
  text: `${SELECT} WHERE i.tenant = $1 AND i.id > $2 ORDER BY i.id LIMIT $3`,
};
const DEFINITION: Statement = {
  name: "get_definition",
  text: "SELECT definition FROM formbridge.definitions WHERE digest = $1",
};
const PUT: Statement = {
  name: "put_intake",
  text: "SELECT formbridge.put_intake($1, $2, $3, $4, $5, $6) AS outcome",
};
const RETIRE: Statement = {
  name: "retire_intake",
  text: `UPDATE formbridge.intakes SET retired = true, updated_at = formbridge.now_ms()
    WHERE id = $1 AND tenant = $2 AND NOT retired RETURNING id`,
};

interface IntakeColumns extends Omit<StoredIntake, "definition"> {
  definition: string;
}
const intakeOf = (columns: IntakeColumns): StoredIntake => ({ ...columns, definition: JSON.parse(columns.definition) });

type Outcome = Awaited<ReturnType<Intakes["put"]>>;

export function createIntakes(db: Database): Intakes {
  return {
    get: async (id) => (await db.read<IntakeColumns>(GET, [id])).map(intakeOf)[0],
    definition: async (digest) => {
      const [found] = await db.read<{ definition: string }>(DEFINITION, [digest]);
      return found === undefined ? undefined : JSON.parse(found.definition);
    },
    list: async ({ tenant, after = "" }, limit) =>
      (await db.read<IntakeColumns>(LIST, [tenant, after, limit])).map(intakeOf),
    put: async ({ tenant, source, definition, digest }, expect) => {
      const values = [definition.id, tenant, source, digest, JSON.stringify(definition), expect ?? null];
      const [row] = await db.write<{ outcome: Outcome }>(PUT, values);
      return row?.outcome ?? "changed";
    },
    retire: async ({ tenant, id }) => (await db.write(RETIRE, [id, tenant])).length === 1,
  };
}
