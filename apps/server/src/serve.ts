import type { AuthNotes } from "@formbridge/auth-jwt";
import type { BreakerNotes } from "@formbridge/breaker";
import { createHttpServer } from "@formbridge/http";
import { createMcpBinding, type McpBinding, type McpOptions } from "@formbridge/mcp";
import type { Worker } from "@formbridge/worker";
import type { Logger } from "pino";
import { ensureAdminKey } from "./admin-key.ts";
import { type ComposeOptions, type Core, composeCore, localUrl } from "./compose.ts";
import type { Config } from "./config/config.ts";
import { ConfigError } from "./config/config.ts";
import { type FolderReading, problemLine, readIntakeFolder, registerFolder } from "./intake-folder.ts";
import { createLogger } from "./logger.ts";
import { uploadOrigins } from "./upload-origins.ts";
import { VERSION } from "./version.ts";
import { startWorkerOn } from "./work.ts";

export interface RunningServer {
  url: string;
  app: Awaited<ReturnType<typeof createHttpServer>>;
  core: Core;
  agents: McpBinding;
  worker: Worker;
  /** The admin key, when this start made one. */
  newAdminKey?: string;
  /** Takes no more, finishes what was accepted, and lets go of everything. */
  stop(): Promise<void>;
}

export interface ServeOptions extends ComposeOptions {
  /** In place of the folder of intakes. */
  intakes?: FolderReading;
  /** Standard output belongs to the agent protocol: the log goes to standard error, and no admin key is made that nobody would see. */
  onStdio?: true;
  /** Serves more to agents than the product has. */
  agentServerClass?: McpOptions["serverClass"];
}

/** Starts everything in the order in which it depends on each other; `stop`, or a start that fails, undoes it backwards. */
export async function serve(
  config: Config,
  { intakes, onStdio, agentServerClass, ...options }: ServeOptions = {},
): Promise<RunningServer> {
  const folder = intakes ?? readIntakeFolder(config.intakesFolder, { maxFields: config.settings.maxSchemaFields });
  if (folder.problems.length > 0) throw new ConfigError(folder.problems.map(problemLine).join("\n"));
  const logger = createLogger(config.logLevel, { toStderr: onStdio === true });
  // With port 0 the address is known only when somebody listens.
  let url = localUrl(config);
  const core = await composeCore(config, {
    authNotes: authNotesIn(logger),
    breakerNotes: breakerNotesIn(logger),
    publicUrl: () => url,
    ...options,
  });
  try {
    await registerFolder(core, folder);
    const running = await listen(config, core, { logger, makesAdminKey: onStdio !== true, agentServerClass });
    url = running.url;
    return running;
  } catch (error) {
    await core.backend.close();
    throw error;
  }
}

/** A caller learns that a token is not good; why, only the log tells. */
const breakerNotesIn = (logger: Logger): BreakerNotes => ({
  opened: (access, cause) => logger.error({ err: cause, access }, "the store is down; probing it"),
  closed: (access) => logger.info({ access }, "the store is back"),
});

const authNotesIn = (logger: Logger): AuthNotes => ({
  refused: (note) => logger.debug(note, "access token refused"),
  keysUnavailable: ({ issuer, error }) => logger.warn({ err: error, issuer }, "keys of an issuer can't be had"),
});

const createAgents = (
  config: Config,
  { operations, sealer, now, publicUrl }: Core,
  { logger, agentServerClass }: ListenOptions,
): Promise<McpBinding> =>
  createMcpBinding({
    operations,
    tools: config.mcp.tools,
    tokenTtlMs: config.settings.policy.tokenTtlMs,
    version: VERSION,
    seal: sealer,
    askTimeoutMs: config.mcp.askTimeoutMs,
    now,
    uploadOrigins: () => uploadOrigins(config.uploads, publicUrl()),
    onError: (error) => logger.error({ err: error }, "agent call failed"),
    ...(agentServerClass && { serverClass: agentServerClass }),
  });

interface ListenOptions {
  logger: Logger;
  makesAdminKey: boolean;
  agentServerClass: ServeOptions["agentServerClass"];
}

async function listen(config: Config, core: Core, options: ListenOptions): Promise<RunningServer> {
  const { logger, makesAdminKey } = options;
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
    allowTestHeaders: config.allowTestHeaders,
    ...(config.mcp.enabled && { agents: { ...config.mcp, binding: agents } }),
  });
  // Live streams of agents never end by themselves either.
  app.addHook("preClose", () => agents.close());
  const url = await app.listen({ host: config.host, port: config.port });
  // Only now: a start that failed would have made a key that nobody ever saw.
  const newAdminKey = makesAdminKey ? await ensureAdminKey(core, config.adminKey) : undefined;
  const worker = startWorkerOn(core, { config, logger, runsJobs: config.jobs.runHere });
  return {
    url,
    app,
    core,
    agents,
    worker,
    ...(newAdminKey !== undefined && { newAdminKey }),
    async stop() {
      await app.close();
      await worker.stop();
      await core.courier.close();
      await backend.close();
    },
  };
}
