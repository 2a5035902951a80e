import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Loose } from "./harness.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "apps/server/bin/formbridge.mjs");
/** A process starts in well under a second, but may take long on a busy machine. */
const PATIENCE = 60_000;

export interface McpProcess {
  create(intakeId: string, fields: Record<string, unknown>): Promise<Loose>;
  status(intakeId: string, submissionId: string): Promise<Loose>;
  stderr(): string;
  stop(): Promise<void>;
}

/** `formbridge mcp` as started by a host, once it has responded. */
export async function startMcpProcess(env: Record<string, string>): Promise<McpProcess> {
  const client = new Client({ name: "desktop", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, "mcp"],
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", FORMBRIDGE_PORT: "0", FORMBRIDGE_WORKER: "off", ...env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (text) => {
    stderr += text;
  });
  await client.connect(transport, { timeout: PATIENCE });
  async function done(name: string, args: Record<string, unknown>): Promise<Loose> {
    const answer = await client.callTool({ name, arguments: args });
    if (answer.isError === true) throw new Error(JSON.stringify(answer.structuredContent ?? answer.content));
    return answer.structuredContent;
  }
  return {
    create: (intakeId, fields) => done(`formbridge_${intakeId}_create`, { initialFields: fields }),
    status: (intakeId, submissionId) => done(`formbridge_${intakeId}_status`, { submissionId }),
    stderr: () => stderr,
    stop: () => client.close(),
  };
}
