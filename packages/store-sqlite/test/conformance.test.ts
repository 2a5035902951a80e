import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeBackend, type OpenBackend } from "@formbridge/conformance";
import { openSqliteBackend } from "@formbridge/store-sqlite";
import { afterAll, describe } from "vitest";
import { openOnThread } from "./open-on-thread.ts";
import { refuseWritesTo } from "./refuse-writes.ts";

const folder = mkdtempSync(join(tmpdir(), "formbridge-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let opened = 0;

const opener =
  (openFile: typeof openOnThread): OpenBackend =>
  async (now) => {
    opened += 1;
    const file = join(folder, `${opened}.db`);
    const again = () => openFile({ file, now });
    return { backend: await again(), reopen: again, refuseWrites: refuseWritesTo(file) };
  };

describe("writing in the caller's thread", () =>
  describeBackend(opener(async (options) => openSqliteBackend(options))));
describe("writing on a thread", () => describeBackend(opener(openOnThread)));
