import { createRandomness, parseJsonBody } from "@formbridge/core";
import { Command } from "commander";
import { type Config, ConfigError, readConfig } from "../config/config.ts";
import type { RunningServer } from "../serve.ts";
import { VERSION } from "../version.ts";
import { complain } from "./print.ts";

interface Options {
  url?: string;
}

const HELP = `
Standard input and output carry the protocol; a host starts this command and talks to it. The log goes to standard error.
Without --url it opens the store that serve would open, and listens like serve does, so that links and uploads work.
With --url it opens nothing and passes every message on to that server, with the key of FORMBRIDGE_MCP_KEY.

Examples:
  formbridge mcp
  FORMBRIDGE_MCP_KEY=fbk_… formbridge mcp --url https://forms.example.com/mcp`;

export const mcpCommand = (): Command =>
  new Command("mcp")
    .description("Serve the agent protocol (MCP) over standard input and output, from the own store or from a server.")
    .option("--url <url>", "the /mcp of a running server, in place of the own store")
    .addHelpText("after", HELP)
    .action(async ({ url }: Options) => {
      const config = readConfig();
      await (url === undefined ? serveHere(config) : passOn(config, url));
    });

/** A message is read as a body of HTTP is. */
const reading = ({ limits }: Config) => ({
  maxMessageBytes: limits.maxBodyBytes,
  parse: (line: Buffer) => parseJsonBody(line, limits),
});
const onError = (error: Error): void => complain(error.message);

/** The whole server, with one more door: the host that started it. */
async function serveHere(config: Config): Promise<void> {
  const { serveMcpStdio } = await import("@formbridge/mcp");
  const localAgentKey = createRandomness().apiKey();
  const apiKey = config.mcp.key ?? localAgentKey;
  const starting = hostsFirst().then(() => serveOnSomePort(config, localAgentKey));
  const host = serveMcpStdio({
    version: VERSION,
    binding: starting.then(({ agents }) => agents),
    caller: { address: "stdio", apiKey },
    ...reading(config),
    onError,
  });
  finishOnSignal(host);
  try {
    const server = await starting;
    await host.ended;
    await server.stop();
  } catch (error) {
    host.finish();
    await host.ended;
    throw error;
  }
}

/** What a host has already asked is read before the rest of the server, which takes longer, is loaded. */
const hostsFirst = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The port may be taken, by a server or by the process of another host: links then lead to a port of its own. */
async function serveOnSomePort(config: Config, localAgentKey: string): Promise<RunningServer> {
  const { serve } = await import("../serve.ts");
  const options = { localAgentKey, onStdio: true } as const;
  try {
    return await serve(config, options);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    return await serve({ ...config, port: 0 }, options);
  }
}

async function passOn(config: Config, url: string): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ConfigError(`--url is ${JSON.stringify(url)}; it takes the URL of a server's /mcp.`);
  }
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") {
    throw new ConfigError("--url has a user name or a password; the key comes from FORMBRIDGE_MCP_KEY.");
  }
  const { bridgeStdio } = await import("@formbridge/mcp");
  const { key } = config.mcp;
  const bridge = await bridgeStdio({
    url,
    ...(key !== undefined && { key }),
    ...reading(config),
    onError,
  });
  finishOnSignal(bridge);
  await bridge.ended;
}

function finishOnSignal({ finish }: { finish(): void }): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, finish);
}
