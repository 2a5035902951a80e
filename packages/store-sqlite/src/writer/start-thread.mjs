/** Plain JavaScript, so that the thread begins with what its process has compiled before: then it needs no compiler of its own. */
import { enableCompileCache } from "node:module";
import { workerData } from "node:worker_threads";

if (workerData.keepsCompiled) enableCompileCache();
await import("./thread.ts");
