import type { ChildProcess } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Starter } from "./host.ts";
import { accountFor, endNow, findProgram, freePort, untilPrinted } from "./programs.ts";
import { newPassword } from "./start-redis.ts";

const USER = "formbridge";
/** The packaged wrapper would write to system folders; the script it calls takes all locations from its environment. */
const SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/** RabbitMQ on loopback only, without plugins, with its own node name and port mapper. */
export const startRabbitmq: Starter = async (folder) => {
  const account = accountFor("rabbitmq");
  chmodSync(folder, 0o755);
  account.own(folder);
  const [port, mapper, distribution] = [await freePort(), await freePort(), await freePort()];
  const password = newPassword();
  const settings = {
    "listeners.tcp.1": `127.0.0.1:${port}`,
    default_user: USER,
    default_pass: password,
    "log.console": "true",
    "log.file": "false",
  };
  const config = join(folder, "rabbitmq.conf");
  writeFileSync(
    config,
    Object.entries(settings)
      .map((setting) => `${setting.join(" = ")}\n`)
      .join(""),
    { mode: 0o644 },
  );
  findProgram("rabbitmq-server", "rabbitmq-server");
  const env = {
    PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: folder,
    ERL_EPMD_PORT: String(mapper),
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_NODENAME: `formbridge-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(folder, "mnesia"),
    RABBITMQ_LOG_BASE: join(folder, "log"),
    RABBITMQ_LOGS: "-",
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "plugins"),
    RABBITMQ_PID_FILE: join(folder, "pid"),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_CONF_ENV_FILE: "/dev/null",
    // One scheduler that sleeps when idle: the machine is busy with tests.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}",
    // With this the script execs the server, so that ending our child ends the server.
    NOTIFY_SOCKET: join(folder, "nobody-listens"),
  };
  const started: ChildProcess[] = [];
  const stop = async () => void (await Promise.all(started.map(endNow)));
  try {
    const portMapper = ["-port", String(mapper), "-address", "127.0.0.1"];
    started.push(account.start(findProgram("epmd", "rabbitmq-server"), portMapper, { env, cwd: folder }));
    const server = account.start(SERVER, [], { env, cwd: folder });
    started.push(server);
    await untilPrinted(server, "Server startup complete");
  } catch (error) {
    await stop();
    throw error;
  }
  return { details: { url: `amqp://${USER}:${password}@127.0.0.1:${port}` }, stop };
};
