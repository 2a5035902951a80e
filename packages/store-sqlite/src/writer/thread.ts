/** The thread of `writer-thread.ts`: it writes a batch at a time, in the order in which they come. */
import { parentPort, workerData } from "node:worker_threads";
import { keepLess, LOG_PAGES, openDatabase } from "../database.ts";
import { type Batch, createWriteBatch } from "./write-batch.ts";

const { file, written } = workerData as { file: string; written: Int32Array };
const db = openDatabase(file);
keepLess(db);
db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
const write = createWriteBatch(db);

parentPort?.on("message", (order: Batch | "close") => {
  if (order !== "close") {
    const answer = write(order);
    Atomics.add(written, 0, 1);
    parentPort?.postMessage(answer);
    return;
  }
  db.close();
  parentPort?.close();
});
parentPort?.postMessage("up");
