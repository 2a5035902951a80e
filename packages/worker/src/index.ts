export type { Loop } from "./every.ts";
export { startWorker, type Worker, type WorkerOptions } from "./start-worker.ts";
