import { existsSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { createCheckpoints } from "../src/checkpoints.ts";
import { openDatabase } from "../src/database.ts";
import { tempFile } from "./temp-file.ts";

const PAGE = 4_096;

/** A database in which each change fills a page. */
function open() {
  const file = tempFile();
  const db = openDatabase(file);
  db.exec("CREATE TABLE rows (text TEXT NOT NULL)");
  const insert = db.prepare("INSERT INTO rows (text) VALUES (?)");
  const checkpoints = createCheckpoints(db);
  return {
    db,
    file,
    checkpoints,
    write(changes: number) {
      for (let change = 0; change < changes; change++) {
        insert.run("x".repeat(PAGE - 100));
        checkpoints.committed(1);
      }
    },
  };
}

it("commits of a busy database reach its file without a commit that waits for it", {
  timeout: 60_000,
}, async () => {
  const { db, file, checkpoints, write } = open();
  write(1_000);
  const before = statSync(file).size;
  // Far less than the log takes before a commit would empty it.
  write(2_000);
  await expect
    .poll(
      () => {
        write(50);
        return statSync(file).size;
      },
      { timeout: 50_000, interval: 50 },
    )
    .toBeGreaterThan(before + 1_500 * PAGE);
  await checkpoints.close();
  db.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
});

it("a quiet database has no thread, and closes at once", async () => {
  const { db, checkpoints, write } = open();
  write(999);
  expect(db.pragma("wal_autocheckpoint", { simple: true })).toBe(1_000);
  await checkpoints.close();
  db.close();
});
