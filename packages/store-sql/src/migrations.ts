/** One step of the schema. Never changed once released: the next step corrects it. */
export interface Migration {
  id: number;
  name: string;
  sql: string;
}

interface Applied {
  id: number;
  name: string;
}

/** The steps that a database lacks, in order. Throws if this code can't use the database. */
export function pendingAmong(
  known: readonly Migration[],
  { database, applied }: { database: string; applied: readonly Applied[] },
): Migration[] {
  const foreign = applied.find((step) => known.some(({ id, name }) => id === step.id && name !== step.name));
  if (foreign !== undefined) {
    throw new Error(
      `The database ${database} was made by a FormBridge that was never released: its schema ${foreign.id} is ` +
        `"${foreign.name}". Start with an empty database.`,
    );
  }
  const last = applied.at(-1)?.id ?? 0;
  const latest = known.at(-1)?.id ?? 0;
  if (last > latest) {
    throw new Error(
      `The database ${database} has schema ${last}, but this FormBridge knows schemas up to ${latest} only. ` +
        "Start the newer FormBridge that wrote it, or restore a backup from before the upgrade.",
    );
  }
  return known.filter((migration) => migration.id > last);
}
