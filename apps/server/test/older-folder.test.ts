import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RunningServer, readConfig, serve } from "@formbridge/server";
import { afterEach, expect, test } from "vitest";
import { tempFolder } from "../../../test/support/child.ts";
import { caller } from "../../../test/support/harness.ts";
import { createMigratedDatabase } from "../../../test/support/services/postgres.ts";

const EXAMPLES = fileURLToPath(new URL("../../../examples/intakes", import.meta.url));
const contact = JSON.parse(readFileSync(join(EXAMPLES, "contact.json"), "utf8"));
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const temporary = (): string => {
  const folder = tempFolder();
  closers.push(folder.remove);
  return folder.path;
};

/** A folder of intakes with these changes to `contact`. */
function folderWith(changes: object): string {
  const path = temporary();
  cpSync(EXAMPLES, path, { recursive: true });
  writeFileSync(join(path, "contact.json"), JSON.stringify({ ...contact, ...changes }));
  return path;
}

async function databaseUrl(store: "sqlite" | "postgres"): Promise<string> {
  if (store === "sqlite") return `sqlite:${join(temporary(), "formbridge.db")}`;
  const database = await createMigratedDatabase();
  closers.push(database.drop);
  return database.url;
}

test.each(["sqlite", "postgres"] as const)(
  "[AUDIT-F29] on %s an older folder whose definition was replaced is refused, and changes nothing",
  async (store) => {
    const env = {
      FORMBRIDGE_DATABASE_URL: await databaseUrl(store),
      FORMBRIDGE_SECRET: "a secret of this test",
      FORMBRIDGE_DATA: temporary(),
      FORMBRIDGE_PORT: "0",
      FORMBRIDGE_LOG_LEVEL: "silent",
    };
    const [older, newer] = [folderWith({ version: "1" }), folderWith({ version: "2", name: "Contact, corrected" })];
    const start = async (folder: string): Promise<RunningServer> => {
      const running = await serve(readConfig({ ...env, FORMBRIDGE_INTAKES: folder }));
      closers.push(running.stop);
      return running;
    };
    const version = async ({ url }: RunningServer): Promise<string> =>
      (await caller(url)("GET", "/intakes/contact")).body.intake.version;
    const stopNow = async (running: RunningServer): Promise<void> => {
      closers.pop();
      await running.stop();
    };
    await stopNow(await start(older));
    await stopNow(await start(older));
    await stopNow(await start(newer));
    await expect(start(older)).rejects.toThrow(
      /contact\.json: Version 1 of the intake contact was replaced by version 2\. Bring the folder of intakes up to date/,
    );
    const again = await start(newer);
    expect(await version(again)).toBe("2");
    await stopNow(again);
    // A new version makes the change deliberate.
    expect(await version(await start(folderWith({ version: "3" })))).toBe("3");
  },
);
