import type { Sealed, SecretChecks } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { Writer } from "./writer.ts";

export function createSecretChecks(db: Database, writer: Writer): SecretChecks {
  const read = db.prepare<[], string>("SELECT checks FROM secret_checks").pluck();
  const put = db.prepare("INSERT OR REPLACE INTO secret_checks (single, checks) VALUES (1, ?)");
  return {
    list: () => answer(() => JSON.parse(read.get() ?? "[]") as Sealed[]),
    replace: (checks, expected) =>
      writer.write(() => {
        if ((read.get() ?? "[]") !== JSON.stringify(expected)) return false;
        put.run(JSON.stringify(checks));
        return true;
      }),
  };
}
