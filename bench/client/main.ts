/** The client process: runs one job at a time for its parent, and reports what it measured. */
import type { Job, JobResult, Reply } from "../protocol.ts";
import { percentile } from "../stats.ts";
import { Connection } from "./connection.ts";
import { createSessions, type Session } from "./sessions.ts";

interface Run {
  job: Job;
  latencies: number[];
  deadline: number;
  bytes: number;
  fail: (error: Error) => void;
}

function mayGoOn({ job, deadline }: Run, sent: number): boolean {
  return "operationsEach" in job.until ? sent < job.until.operationsEach : performance.now() < deadline;
}

function drive(connection: Connection, session: Session, run: Run): Promise<void> {
  return new Promise((resolve) => {
    let sent = 0;
    const began = performance.now();
    const { everyMs } = run.job;
    const step = (): void => {
      if (!mayGoOn(run, sent)) {
        resolve();
        return;
      }
      const due = everyMs === undefined ? 0 : began + sent * everyMs;
      const early = due - performance.now();
      if (early > 0) setTimeout(() => send(performance.now()), early);
      // If the previous response was late, the request is sent late, and the wait counts.
      else send(everyMs === undefined ? performance.now() : due);
    };
    const send = (started: number): void => {
      sent += 1;
      const request = session.next();
      connection.send(request, ({ status, body }) => {
        run.latencies.push(performance.now() - started);
        if (status !== 200 && status !== 201) return run.fail(new Error(`${status} ${body.slice(0, 500)}`));
        run.bytes = body.length;
        session.answered(body);
        step();
      });
    };
    step();
  });
}

async function work(job: Job): Promise<JobResult> {
  const { connections, port, otherPorts = [], until, load } = job;
  const ports = [port, ...otherPorts];
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const opened = await Promise.all(
    Array.from({ length: connections }, (_, index) => Connection.open(ports[index % ports.length] ?? port, reject)),
  );
  const { sessions, tokens } = createSessions(load, connections);
  const cpu = process.cpuUsage();
  const started = performance.now();
  const deadline = "seconds" in until ? started + until.seconds * 1000 : Number.POSITIVE_INFINITY;
  const run: Run = { job, latencies: [], deadline, bytes: 0, fail: reject };
  const drives = opened.map((connection, index) => drive(connection, sessions[index] as Session, run));
  await Promise.race([Promise.all(drives), failed]);
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  for (const connection of opened) connection.close();
  return {
    operations: run.latencies.length,
    seconds,
    p50: percentile(run.latencies, 0.5),
    p99: percentile(run.latencies, 0.99),
    bytes: run.bytes,
    clientCpu: (user + system) / 1e6 / seconds,
    tokens,
    ...(job.keepLatencies && { latencies: run.latencies }),
  };
}

const answer = (reply: Reply): void => {
  process.send?.(reply);
};

process.on("message", (job: Job) => {
  work(job).then(
    (result) => answer({ result }),
    (error: unknown) => answer({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
