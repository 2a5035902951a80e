import { cpus } from "node:os";
import { join } from "node:path";
import type { Client } from "./client-process.ts";
import { startBenchPostgres } from "./cluster.ts";
import { compare, createSide, type Measure, type Pairing, type Rounds, type Side } from "./compare.ts";
import { type Server, startOurs } from "./server-process.ts";

const SUBMISSIONS = 1024;

export interface Instances {
  setFields: Pairing;
  read: Pairing;
  /** Cores kept busy by one instance, its database and the load. */
  busyCores: number;
  cores: number;
}

/** Both serve the same submissions; the load's connections are spread over them. */
const asOne = (one: Server, other: Server): Server => ({
  ...one,
  name: "two instances",
  otherPorts: [other.port],
  rss: () => one.rss() + other.rss(),
  cpuSeconds: () => one.cpuSeconds() + other.cpuSeconds(),
});

const busyCoresOf = ({ opsPerSecond, cpuMicros, databaseCpuMicros, clientCpu }: Measure): number =>
  (opsPerSecond * (cpuMicros + databaseCpuMicros)) / 1e6 + clientCpu;

/** One instance against two on the same database, alternating. */
export async function measureInstances(client: Client, folder: string, rounds: Rounds): Promise<Instances> {
  const database = await startBenchPostgres();
  const servers: Server[] = [];
  try {
    const databaseUrl = await database.createDatabase("ours");
    const start = async (name: string): Promise<Server> => {
      const server = await startOurs(join(folder, name), { databaseUrl });
      servers.push(server);
      return server;
    };
    const first = await start("first");
    const pair = asOne(first, await start("second"));
    const sides: [Side, Side] = [
      { ...(await createSide(client, first, SUBMISSIONS)), database },
      { ...(await createSide(client, pair, SUBMISSIONS)), database },
    ];
    const setFields = await compare(client, sides, { kind: "setFields", rounds });
    const read = await compare(client, sides, { kind: "read", rounds });
    return { setFields, read, busyCores: busyCoresOf(setFields.base), cores: cpus().length };
  } finally {
    for (const server of servers) await server.stop();
    await database.stop();
  }
}
