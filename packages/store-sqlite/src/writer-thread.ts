import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { Batch, BatchAnswer } from "./writer/write-batch.ts";

export interface WriterThread {
  /** Begins to bring it up, if it is not yet; resolves when it can be sent batches, or never will. */
  start(): Promise<void>;
  isUp(): boolean;
  /** Whether it still writes: what it has written, and has not yet told, no longer counts. */
  isBusy(): boolean;
  /** Only while it is up. `answered` is called in the order of sending; with why the thread has ended, should it end over it. */
  send(batch: Batch, answered: Answered): void;
  /** Writes what was sent, then ends. */
  close(): Promise<void>;
}

type Answered = (answer: BatchAnswer | Error) => void;

/** Nothing that it is sent outlives its batch. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 };

/**
 * A thread with a connection of its own, which writes to the file beside the main thread. It loads in a tenth of a second, and until
 * it is up, or up again, whoever has something to write writes it without the thread.
 */
export function createWriterThread(file: string): WriterThread {
  let worker: Worker | undefined;
  let started: Promise<void> | undefined;
  let isUp = false;
  let ended: Promise<unknown> = Promise.resolve();
  let waiting: Answered[] = [];
  let sent = 0;
  let written: Int32Array = new Int32Array(1);

  function start(): Promise<void> {
    sent = 0;
    written = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const workerData = { file, written, keepsCompiled: getCompileCacheDir() !== undefined };
    const starting = new Worker(new URL("./writer/start-thread.mjs", import.meta.url), { workerData, resourceLimits });
    // What it is busy with holds the process, itself it does not.
    starting.unref();
    worker = starting;
    return new Promise((resolve) => {
      starting.once("message", () => {
        isUp = true;
        starting.on("message", answered);
        resolve();
      });
      // An error is followed by the exit, and only then is the thread's connection closed and its lock free.
      let why = new Error("the thread that writes has ended");
      starting.on("error", (error: Error) => {
        why = error;
      });
      ended = new Promise((exited) => starting.once("exit", exited)).then(() => {
        // One that was up is started again; one that can't start would only fail again.
        if (isUp) started = undefined;
        isUp = false;
        const left = waiting;
        waiting = [];
        for (const tell of left) tell(why);
        resolve();
      });
    });
  }

  function answered(answer: BatchAnswer): void {
    const tell = waiting.shift();
    if (waiting.length === 0) worker?.unref();
    tell?.(answer);
  }

  return {
    start: () => {
      started ??= start();
      return started;
    },
    isUp: () => isUp,
    isBusy: () => isUp && Atomics.load(written, 0) !== sent,
    send(batch, tell) {
      sent = (sent + 1) | 0;
      if (waiting.length === 0) worker?.ref();
      waiting.push(tell);
      worker?.postMessage(batch);
    },
    async close() {
      worker?.ref();
      worker?.postMessage("close");
      await ended;
    },
  };
}
