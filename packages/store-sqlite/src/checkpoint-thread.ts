/** The thread of `checkpoints.ts`: it is told when to look, and says when it has. */
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
    // The log keeps it all; what could not be brought over now is brought over with the next look, or by a commit.
  }
  parentPort?.postMessage("done");
});
