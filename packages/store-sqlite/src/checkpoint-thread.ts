/** The thread of `checkpoints.ts`: it checkpoints on request and reports back. */
import { parentPort, workerData } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import type { Order } from "./checkpoints.ts";

const db = new Sqlite((workerData as { file: string }).file);
db.pragma("synchronous = FULL");

parentPort?.on("message", (order: Order) => {
  if (order === "close") {
    db.close();
    parentPort?.close();
    return;
  }
  try {
    db.pragma("wal_checkpoint(PASSIVE)");
  } catch {
    // Nothing is lost: the next checkpoint or commit makes up for it.
  }
  parentPort?.postMessage("done");
});
