import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { request } from "undici";

export interface OtherProvider {
  url: string;
  stop(): Promise<void>;
}

const FOLDER = fileURLToPath(new URL("other-provider", import.meta.url));
const TRIES = 100;

/**
 * The OAI-PMH provider that Debian packages, under Starman, with its records in memory. Undefined unless
 * `libdancer-plugin-catmandu-oai-perl` and `starman` are installed.
 */
export async function startOtherProvider(records: number): Promise<OtherProvider | undefined> {
  if (spawnSync("perl", ["-MDancer::Plugin::Catmandu::OAI", "-MStarman", "-e", "1"]).status !== 0) return undefined;
  const port = await freePort();
  const args = ["--listen", `127.0.0.1:${port}`, "--workers", "1", "--preload-app", "app.pl"];
  const { PATH = "" } = process.env;
  const env = { PATH, RECORDS: String(records) };
  const child = spawn("starman", args, { cwd: FOLDER, env, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}/oai`;
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await request(`${url}?verb=Identify`).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
