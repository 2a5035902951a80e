import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createDice } from "../simulation/random.ts";
import { startServerProcess, tempFolder } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { ADMIN_KEY, checkStories, putIntake } from "./ledger-check.ts";
import { newLoad, writeThrough } from "./patient-client.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const ROUNDS = isLong ? 20 : 2;
const CLIENTS = 8;
/** More than all rounds together write. */
const DISK_MB = isLong ? 128 : 16;

const folder = tempFolder();
afterAll(() => folder.remove());

/** A small disk visible only to this process; ordinary users may mount it in their own namespace. */
const ON_SMALL_DISK = [
  ...["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"],
  `mount -t tmpfs -o size=${DISK_MB}m tmpfs "$0" && exec "$@"`,
  folder.path,
];

/** As the log of another program would. */
function fill(file: string): void {
  const piece = Buffer.alloc(65_536);
  try {
    for (;;) writeFileSync(file, piece, { flag: "a" });
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  }
}

test("[STORES-DOWN] [STORES-BACK] the disk is full under load: reads continue, writes are 503 and not executed, and succeed again with room", {
  timeout: isLong ? 900_000 : 120_000,
}, async () => {
  const env = {
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_INTAKES: folder.path,
    FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
    FORMBRIDGE_RATE_LIMIT: "off",
    FORMBRIDGE_LOG_LEVEL: "silent",
  };
  const server = await startServerProcess(env, ON_SMALL_DISK);
  const filler = join(`/proc/${server.pid}/root`, folder.path, "filler");
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const get = async (path: string): Promise<Loose> => {
    const response = await fetch(server.url + path, { headers });
    return { status: response.status, body: await response.json() };
  };
  try {
    await putIntake(server.url);
    for (let round = 0; round < ROUNDS; round++) {
      const load = newLoad();
      const from = new Date().toISOString();
      const clients = Array.from({ length: CLIENTS }, (_, index) =>
        writeThrough(server.url, { name: `full${round}-${index}`, dice: createDice(Date.now() + index), load }),
      );
      const finished = Promise.all(clients);
      await Promise.race([until(() => load.answers.length > 30 || undefined), finished]);
      fill(filler);
      await Promise.race([until(() => load.refusals > 50 || undefined), finished]);
      const { status, body } = await until(async () => {
        const found = await get("/readyz");
        return found.status === 503 ? found : undefined;
      });
      expect([status, body.stores.store.healthy]).toEqual([503, false]);
      expect((await get("/submissions?limit=1")).status).toBe(200);
      rmSync(filler);
      const back = performance.now();
      await Promise.race([until(() => (load.answers.at(-1) ?? 0) > back || undefined), finished]);
      load.over = true;
      expect((load.answers.find((at) => at > back) ?? 0) - back).toBeLessThan(2_000);
      await checkStories(server.url, {
        stories: (await finished).flat(),
        from,
        tally: { answered: 0, open: 0, applied: 0 },
      });
      expect((await get("/readyz")).status).toBe(200);
    }
  } finally {
    await server.stop();
  }
});
