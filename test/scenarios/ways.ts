import { join } from "node:path";
import { PassThrough } from "node:stream";
import { parseJsonBody } from "@formbridge/core";
import { serveMcpStdio } from "@formbridge/mcp";
import { VERSION } from "../../apps/server/src/version.ts";
import type { TestServer } from "../support/harness.ts";
import { connectMcp, type Era, PROTOCOLS, type Way } from "../support/mcp-clients.ts";
import type { Driver } from "./driver.ts";
import { createHttpDriver } from "./http-driver.ts";
import { createMcpDriver, type Toolset } from "./mcp-driver.ts";

/** A way on which an agent reaches the server. */
export interface AgentsWay {
  name: string;
  env: Record<string, string>;
  connect(server: TestServer): Promise<Driver>;
  /** A process per connection is slow: such a way plays only the scenes that need it. */
  isSlow?: true;
}

const BIN = join(import.meta.dirname, "../../apps/server/bin/formbridge.mjs");

/** The server's end of stdin and stdout, connected to the client's by pipes instead of a process. */
function onPipes({ server }: TestServer): Way {
  const [input, output] = [new PassThrough(), new PassThrough()];
  serveMcpStdio({
    version: VERSION,
    binding: Promise.resolve(server.agents),
    caller: { address: "stdio" },
    input,
    output,
    maxMessageBytes: 1_000_000,
    parse: (line) => parseJsonBody(line, { maxDepth: 64, maxKeys: 10_000 }),
    onError: (error) => {
      throw error;
    },
  });
  return { kind: "pipe", input, output };
}

/** `formbridge mcp --url …`, started as a host starts it. */
const inProcess = ({ url }: TestServer): Way => ({
  kind: "process",
  command: process.execPath,
  args: [BIN, "mcp", "--url", `${url}/mcp`],
  env: { PATH: process.env.PATH ?? "" },
});

const WAYS: Record<string, (server: TestServer) => Way> = {
  HTTP: ({ url }) => ({ kind: "http", url: `${url}/mcp` }),
  stdio: onPipes,
  "stdio to a server elsewhere": inProcess,
};

const mcpWay = (way: string, era: Era, tools: Toolset): AgentsWay => ({
  name: `over MCP: ${way}, ${era} protocol, tools of each ${tools === "intake" ? "intake" : "operation"}`,
  env: { FORMBRIDGE_MCP_TOOLS: tools },
  async connect(server) {
    const connection = await connectMcp(era, (WAYS[way] as (typeof WAYS)[string])(server));
    const { protocolVersion = PROTOCOLS[era] } = connection;
    if (protocolVersion !== PROTOCOLS[era]) throw new Error(`it speaks ${protocolVersion}`);
    return createMcpDriver(way, connection, tools);
  },
  ...(way === "stdio to a server elsewhere" && { isSlow: true as const }),
});

export const overHttp: AgentsWay = {
  name: "over HTTP",
  env: {},
  connect: async (server) => createHttpDriver(server),
};

export const overMcp: AgentsWay[] = [
  mcpWay("HTTP", "new", "intake"),
  mcpWay("HTTP", "new", "generic"),
  mcpWay("HTTP", "old", "intake"),
  mcpWay("stdio", "new", "intake"),
  mcpWay("stdio", "old", "intake"),
  mcpWay("stdio", "old", "generic"),
  mcpWay("stdio to a server elsewhere", "new", "intake"),
  mcpWay("stdio to a server elsewhere", "old", "intake"),
];
