import { setTimeout as delay } from "node:timers/promises";
import { createRandomness, parseJsonBody } from "@formbridge/core";
import { Command } from "commander";
import { type Config, readConfig } from "../config/config.ts";
import { ConfigError } from "../config/reader.ts";
import { alreadyServed, claimStore, type FileOwner, publishedAddress, type ServerAddress } from "../file-owner.ts";
import type { RunningServer, ServeOptions } from "../serve.ts";
import { VERSION } from "../version.ts";
import { complain } from "./print.ts";

interface Options {
  url?: string;
}

const HELP = `
Standard input and output carry the protocol; a host starts this command and talks to it. The log goes to standard error.
Without --url it opens the store that serve would open, and listens like serve does, so that links and uploads work.
When another process on this machine serves that store already, it joins that server.
With --url it opens nothing and passes every message on to that server, with the key of FORMBRIDGE_MCP_KEY.

Examples:
  formbridge mcp
  FORMBRIDGE_MCP_KEY=fbk_… formbridge mcp --url https://forms.example.com/mcp`;

export const mcpCommand = (): Command =>
  new Command("mcp")
    .description("Serve the agent protocol (MCP) over standard input and output, from its own store or from a server.")
    .option("--url <url>", "the /mcp of a running server, instead of its own store")
    .addHelpText("after", HELP)
    .action(async ({ url }: Options) => {
      const config = readConfig();
      await (url === undefined ? serveOrJoin(config) : passOn(config, url));
    });

/** A starting server owns its file but can't be reached yet. */
const STARTING_MS = 15_000;
const LOOK_EVERY_MS = 50;

/** One process serves an SQLite file: this one if the file is free; else connect to the process that owns it. */
async function serveOrJoin(config: Config): Promise<void> {
  const giveUpAt = performance.now() + STARTING_MS;
  for (;;) {
    const owner = claimStore(config);
    if (owner !== undefined) return await serveHere(config, owner === "not needed" ? undefined : owner);
    const address = publishedAddress(config);
    if (address !== undefined) return await join(config, address);
    if (performance.now() > giveUpAt) throw alreadyServed(config);
    await delay(LOOK_EVERY_MS);
  }
}

async function join(config: Config, { url, agents, key }: ServerAddress): Promise<void> {
  if (!agents) {
    throw new ConfigError(
      `The server at ${url} uses this data but doesn't serve agents. Start it with FORMBRIDGE_MCP=on, or stop it.`,
    );
  }
  complain(`Joined the server at ${url}, which uses this data.`);
  await bridge(config, `${url}/mcp`, config.mcp.key ?? key);
}

/** Messages are parsed like HTTP bodies. */
const reading = ({ limits }: Config) => ({
  maxMessageBytes: limits.maxBodyBytes,
  parse: (line: Buffer) => parseJsonBody(line, limits),
});
const onError = (error: Error): void => complain(error.message);

/** Runs the whole server, and also serves the host that started it. */
async function serveHere(config: Config, owner: FileOwner | undefined): Promise<void> {
  const { serveMcpStdio } = await import("@formbridge/mcp");
  const localAgentKey = createRandomness().apiKey();
  const apiKey = config.mcp.key ?? localAgentKey;
  const starting = hostsFirst().then(() =>
    serveOnSomePort(config, { localAgentKey, onStdio: true, role: "mcp", ...(owner && { owner }) }),
  );
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

/** Respond to the host's first messages before loading the rest of the server, which takes longer. */
const hostsFirst = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The port may be taken by another server or host; then use any free port, and links lead there. */
async function serveOnSomePort(config: Config, options: ServeOptions): Promise<RunningServer> {
  const { serve } = await import("../serve.ts");
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
  await bridge(config, url, config.mcp.key);
}

async function bridge(config: Config, url: string, key: string | undefined): Promise<void> {
  const { bridgeStdio } = await import("@formbridge/mcp");
  const bridged = await bridgeStdio({
    url,
    ...(key !== undefined && { key }),
    ...reading(config),
    onError,
  });
  finishOnSignal(bridged);
  await bridged.ended;
}

function finishOnSignal({ finish }: { finish(): void }): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, finish);
}
