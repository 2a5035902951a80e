import { enableCompileCache } from "node:module";
import type { Backend } from "@formbridge/core";
import { migrate, openDatabase, type SqliteOptions } from "@formbridge/store-sqlite";
import { createSqliteBackend } from "../src/backend.ts";
import { createWriterThread } from "../src/writer-thread.ts";

// A thread starts in half the time when it need not compile what the one before it has compiled.
enableCompileCache();

/** A backend whose thread is up and writes everything, from the first change on. */
export async function openOnThread({ file, ...options }: Omit<SqliteOptions, "writer">): Promise<Backend> {
  const db = openDatabase(file);
  migrate(db);
  const thread = createWriterThread(file);
  await thread.start();
  return createSqliteBackend(db, { ...options, thread });
}
