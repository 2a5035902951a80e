export type { Loop } from "./every.ts";
export { startWorker, type WorkerOptions } from "./start-worker.ts";
