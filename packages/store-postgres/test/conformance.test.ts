import { describeAlarmWindows, describeBackend } from "@formbridge/conformance";
import type { AlarmWindows, Backend } from "@formbridge/core";
import { openPostgresBackend } from "@formbridge/store-postgres";
import { afterAll } from "vitest";
import { createMigratedDatabase } from "../../../test/support/services/postgres.ts";
import { openOn, optionsFor } from "./open.ts";

const database = await createMigratedDatabase();
const open = openOn(database, await database.fakeClock());
afterAll(database.close);

describeBackend(open);

const other = await createMigratedDatabase();
const shared = [await openPostgresBackend(optionsFor(other.url)), await openPostgresBackend(optionsFor(other.url))];
afterAll(async () => {
  for (const backend of shared) await backend.close();
  await other.close();
});
let made = 0;

describeAlarmWindows(() => {
  made += 1;
  // Each test starts counting from zero.
  const name = `${made}`;
  const handle = (backend: Backend | undefined): AlarmWindows => ({
    add: async (marks) =>
      (await backend?.alarmWindows?.add(marks.map((mark) => ({ ...mark, window: name + mark.window })))) ?? [],
  });
  return [handle(shared[0]), handle(shared[1])];
});
