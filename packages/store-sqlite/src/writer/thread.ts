/** The thread of `writer-thread.ts`: it writes a batch at a time, in the order in which they come. */
import { parentPort, workerData } from "node:worker_threads";
import { keepLess, LOG_PAGES, openDatabase } from "../database.ts";
import { type Batch, createWriteBatch } from "./write-batch.ts";

const db = openDatabase((workerData as { file: string }).file);
keepLess(db);
db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
const write = createWriteBatch(db);

parentPort?.on("message", (order: Batch | "close") => {
  if (order !== "close") {
    parentPort?.postMessage(write(order));
    return;
  }
  db.close();
  parentPort?.close();
});
parentPort?.postMessage("up");
