/**
 * Runs beside the writer: copies what the log holds into the database file, so that no commit has to wait for it. A passive
 * checkpoint never blocks the writer, and nothing depends on it: what it leaves is done later.
 */
import { parentPort, workerData } from "node:worker_threads";
import Sqlite from "better-sqlite3";

const { file } = workerData as { file: string };
const db = new Sqlite(file);
const checkpoint = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", (message: "checkpoint" | "close") => {
  if (message === "close") {
    db.close();
    parentPort?.close();
    return;
  }
  checkpoint.get();
  parentPort?.postMessage("done");
});
