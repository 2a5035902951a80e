import type { Part } from "@formbridge/conformance";
import { openDatabase } from "@formbridge/store-sqlite";

/** Makes an open file refuse every new row of the part's table, as another process would. Returns how to end that. */
export function refuseWritesTo(file: string): (part: Part) => Promise<() => Promise<void>> {
  const run = async (sql: string): Promise<void> => {
    const db = openDatabase(file);
    db.exec(sql);
    db.close();
  };
  return async (part) => {
    await run(`CREATE TRIGGER refuse BEFORE INSERT ON ${part} BEGIN SELECT RAISE(ABORT, 'refused'); END`);
    return () => run("DROP TRIGGER refuse");
  };
}
