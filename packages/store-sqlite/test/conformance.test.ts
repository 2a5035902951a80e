import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeBackend } from "@formbridge/conformance";
import { openSqliteBackend } from "@formbridge/store-sqlite";
import { afterAll } from "vitest";
import { refuseWritesTo } from "./refuse-writes.ts";

const folder = mkdtempSync(join(tmpdir(), "formbridge-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let opened = 0;

describeBackend(async (now) => {
  opened += 1;
  const file = join(folder, `${opened}.db`);
  const again = () => openSqliteBackend({ file, now });
  return { backend: again(), reopen: async () => again(), refuseWrites: refuseWritesTo(file) };
});
