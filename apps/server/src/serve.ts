import type { AuthNotes } from "@formbridge/auth-jwt";
import { createRandomness } from "@formbridge/core";
import { createHttpServer, HARVEST_PATH } from "@formbridge/http";
import { createMcpBinding, type McpBinding, type McpOptions } from "@formbridge/mcp";
import { createOaiProvider, type OaiProvider } from "@formbridge/oai";
import type { Role, Telemetry } from "@formbridge/telemetry";
import type { Worker } from "@formbridge/worker";
import type { Logger } from "pino";
import { ensureAdminKey } from "./admin-key.ts";
import { type ComposeOptions, type Core, composeCore, localUrl } from "./compose.ts";
import type { Config } from "./config/config.ts";
import { oaiDomain } from "./config/oai-settings.ts";
import { ConfigError } from "./config/reader.ts";
import { alreadyServed, claimStore, type FileOwner, urlOnThisMachine } from "./file-owner.ts";
import { type FolderReading, problemLine, readIntakeFolder, registerFolder } from "./intake-folder.ts";
import { createLoggers } from "./logger.ts";
import { FORM_SCRIPT, PAGES_FOLDER } from "./pages-folder.ts";
import { telemetryFor } from "./telemetry.ts";
import { uploadOrigins } from "./upload-origins.ts";
import { VERSION } from "./version.ts";
import { startWorkerOn } from "./work.ts";

export interface RunningServer {
  url: string;
  app: Awaited<ReturnType<typeof createHttpServer>>;
  core: Core;
  agents: McpBinding;
  worker: Worker;
  /** The URL of the metrics, if they have their own port. */
  metricsUrl?: string;
  /** The admin key, if this start created one. */
  newAdminKey?: string;
  /** Stops accepting requests, finishes those in flight, and releases everything. */
  stop(): Promise<void>;
}

export interface ServeOptions extends ComposeOptions {
  /** Used instead of the configured intake folder. */
  intakes?: FolderReading;
  /** Stdout belongs to MCP: logs go to stderr, and no admin key is created, since nobody would see it. */
  onStdio?: true;
  /** An MCP server class with more than the product has, for the official conformance suite. */
  agentServerClass?: McpOptions["serverClass"];
  /** The caller's claim on the database file. `stop` releases it; if the start fails, the caller does. */
  owner?: FileOwner;
  /** What the process does, for its metrics. */
  role?: Role;
}

/** Starts everything in order of dependency; `stop`, or a failed start, undoes it in reverse. */
export async function serve(
  config: Config,
  { intakes, onStdio, agentServerClass, owner: given, role = "serve", ...options }: ServeOptions = {},
): Promise<RunningServer> {
  const folder = intakes ?? readIntakeFolder(config.intakesFolder, { maxFields: config.settings.maxSchemaFields });
  if (folder.problems.length > 0) throw new ConfigError(folder.problems.map(problemLine).join("\n"));
  const { format } = config.telemetry.log;
  const { logger, lines, flush } = createLoggers(config.logLevel, { toStderr: onStdio === true, format });
  const telemetry = telemetryFor(config, { lines, role });
  const owner = given ?? claimStore(config);
  if (owner === undefined) throw alreadyServed(config);
  const fileOwner = owner === "not needed" ? undefined : owner;
  const { localAgentKey = createRandomness().apiKey() } = options;
  // With port 0 the address is known only after listening.
  let url = localUrl(config);
  try {
    const core = await composeCore(config, {
      authNotes: authNotesIn(logger),
      ...telemetry,
      publicUrl: () => url,
      ...options,
      ...(fileOwner && { localAgentKey }),
    });
    const makesAdminKey = onStdio !== true;
    const running = await start(config, core, { folder, logger, telemetry, makesAdminKey, agentServerClass });
    url = running.url;
    fileOwner?.publish({ url: urlOnThisMachine(url), agents: config.mcp.enabled, key: localAgentKey });
    return {
      ...running,
      async stop() {
        await running.stop();
        fileOwner?.release();
        await flush();
      },
    };
  } catch (error) {
    if (given === undefined) fileOwner?.release();
    throw error;
  }
}

async function start(
  config: Config,
  core: Core,
  { folder, ...options }: ListenOptions & { folder: FolderReading },
): Promise<RunningServer> {
  try {
    await registerFolder(core, folder);
    return await listen(config, core, options);
  } catch (error) {
    await options.telemetry.stop();
    await core.backend.close();
    throw error;
  }
}

/** Callers only learn that a token is invalid; the log says why. */
const authNotesIn = (logger: Logger): AuthNotes => ({
  refused: (note) => logger.debug(note, "access token refused"),
  keysUnavailable: ({ issuer, error }) => logger.warn({ err: error, issuer }, "can't fetch the keys of an issuer"),
});

const createAgents = (
  config: Config,
  { operations, sealer, now, publicUrl }: Core,
  { logger, telemetry, agentServerClass }: ListenOptions,
): Promise<McpBinding> =>
  createMcpBinding({
    operations,
    tools: config.mcp.tools,
    policy: config.settings.policy,
    version: VERSION,
    seal: sealer,
    askTimeoutMs: config.mcp.askTimeoutMs,
    now,
    uploadOrigins: () => uploadOrigins(config.uploads, publicUrl()),
    formScript: FORM_SCRIPT,
    onError: (error) => logger.error({ err: error }, "agent call failed"),
    onCall: telemetry.toolCall,
    inSpan: telemetry.tracing.isOn ? telemetry.tracing.entry : undefined,
    ...(agentServerClass && { serverClass: agentServerClass }),
  });

const createHarvest = ({ oai }: Config, { operations, publicUrl }: Core): OaiProvider =>
  createOaiProvider(operations, {
    ...oai,
    baseUrl: () => `${publicUrl()}${HARVEST_PATH}`,
    domain: () => oaiDomain(oai, publicUrl()),
  });

interface ListenOptions {
  logger: Logger;
  telemetry: Telemetry;
  makesAdminKey: boolean;
  agentServerClass: ServeOptions["agentServerClass"];
}

async function listen(config: Config, core: Core, options: ListenOptions): Promise<RunningServer> {
  const { logger, telemetry, makesAdminKey } = options;
  const { operations, backend } = core;
  const agents = await createAgents(config, core, options);
  const app = await createHttpServer({
    operations,
    health: core.health,
    logger,
    version: VERSION,
    publicUrl: config.publicUrl ?? localUrl(config),
    ...config.limits,
    uploadIdleMs: config.uploads.idleMs,
    trustProxy: config.trustProxy,
    ...(config.countryHeader !== undefined && { countryHeader: config.countryHeader }),
    allowTestHeaders: config.allowTestHeaders,
    staging: config.staging,
    onAnswered: telemetry.request,
    scrape: telemetry.scrape,
    ...(PAGES_FOLDER !== undefined && {
      pages: { folder: PAGES_FOLDER, uploadOrigins: () => uploadOrigins(config.uploads, core.publicUrl()) },
    }),
    ...(config.mcp.enabled && { agents: { ...config.mcp, binding: agents } }),
    harvest: { ...config.oai, binding: createHarvest(config, core) },
  });
  // Agents' live streams never end by themselves either.
  app.addHook("preClose", () => agents.close());
  const { metricsUrl } = await telemetry.start(core);
  const url = await app.listen({ host: config.host, port: config.port });
  // Created last: if the start failed, nobody would ever see the key.
  const newAdminKey = makesAdminKey ? await ensureAdminKey(core, config.adminKey) : undefined;
  if (config.jobs.runHere) await backend.releaseLeases?.();
  const worker = startWorkerOn(core, { config, logger, runsJobs: config.jobs.runHere });
  return {
    url,
    app,
    core,
    agents,
    worker,
    ...(metricsUrl !== undefined && { metricsUrl }),
    ...(newAdminKey !== undefined && { newAdminKey }),
    async stop() {
      await app.close();
      await worker.stop();
      await core.courier.close();
      await telemetry.stop();
      await backend.close();
    },
  };
}
