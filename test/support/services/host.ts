/**
 * Servers that tests share, one of each kind per test run. The process that runs the tests owns them: it starts a
 * server when the first test requests it, and stops all of them at the end, whatever the tests did.
 *
 *   test file ──{"service":"postgres"}──▶ socket of the run ──▶ started once ──{"details":{…}}──▶ test file
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Service {
  /** How to reach it; passed to the tests as JSON. */
  details: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts a server in its own folder, which is deleted after the server has stopped. */
export type Starter = (folder: string) => Promise<Service>;

export interface ServiceHost {
  socket: string;
  close(): Promise<void>;
}

export async function openServiceHost(starters: Record<string, Starter>): Promise<ServiceHost> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-services-"));
  const running = new Map<string, Promise<Service>>();
  const folders: string[] = [];

  function service(name: string): Promise<Service> {
    const known = running.get(name);
    if (known !== undefined) return known;
    const start = starters[name];
    if (start === undefined) return Promise.reject(new Error(`there is no service ${name}`));
    const own = mkdtempSync(join(tmpdir(), `formbridge-${name}-`));
    folders.push(own);
    const started = start(own);
    running.set(name, started);
    return started;
  }

  async function answerTo(line: string): Promise<string> {
    try {
      return JSON.stringify({ details: (await service(JSON.parse(line).service)).details });
    } catch (error) {
      return JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
    }
  }

  const server = createServer((connection) => {
    connection.on("error", () => connection.destroy());
    createInterface(connection).on("line", async (line) => connection.end(`${await answerTo(line)}\n`));
  });
  const socket = join(folder, "socket");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    socket,
    async close() {
      server.close();
      await Promise.allSettled([...running.values()].map(async (started) => (await started).stop()));
      for (const one of [...folders, folder]) rmSync(one, { recursive: true, force: true });
    },
  };
}
