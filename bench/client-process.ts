import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Job, JobResult, Reply } from "./protocol.ts";

export interface Client {
  run(job: Job): Promise<JobResult>;
  stop(): void;
}

/** The load comes from a separate process, so that its work isn't counted as ours. */
export function startClient(): Client {
  const child = fork(fileURLToPath(new URL("client/main.ts", import.meta.url)));
  return {
    async run(job) {
      const replied = once(child, "message");
      child.send(job);
      const [reply] = (await replied) as [Reply];
      if ("error" in reply) throw new Error(`${job.load.kind} on port ${job.port}: ${reply.error}`);
      return reply.result;
    },
    stop: () => child.disconnect(),
  };
}
