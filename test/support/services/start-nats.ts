import { chmodSync } from "node:fs";
import type { Starter } from "./host.ts";
import { accountFor, endNow, findProgram, freePort, untilPrinted } from "./programs.ts";
import { newPassword } from "./start-redis.ts";

const USER = "formbridge";

/** NATS with JetStream, on loopback only. */
export const startNats: Starter = async (folder) => {
  const account = accountFor("nats");
  chmodSync(folder, 0o755);
  account.own(folder);
  const port = await freePort();
  const password = newPassword();
  const flags = ["--addr", "127.0.0.1", "--port", String(port), "--jetstream", "--store_dir", folder];
  const login = ["--user", USER, "--pass", password];
  const server = account.start(findProgram("nats-server", "nats-server"), [...flags, ...login], { cwd: folder });
  await untilPrinted(server, "Server is ready");
  return { details: { url: `nats://${USER}:${password}@127.0.0.1:${port}` }, stop: () => endNow(server) };
};
