import type { Readable, Writable } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Loose } from "./harness.ts";

/** The official clients: `new` speaks 2026-07-28, `old` the revisions before it, with a handshake. */
export type Era = "new" | "old";
export const PROTOCOLS: Record<Era, string> = { new: "2026-07-28", old: "2025-11-25" };

export interface McpConnection {
  /** The negotiated revision; the old client's stdio transport doesn't expose it. */
  protocolVersion: string | undefined;
  listTools(): Promise<Loose[]>;
  callTool(name: string, args: Record<string, unknown>): Promise<Loose>;
  readResource(uri: string): Promise<Loose>;
  close(): Promise<void>;
}

/** How a client reaches the server. */
export type Way =
  | { kind: "http"; url: string; key?: string }
  | { kind: "process"; command: string; args: string[]; env: Record<string, string> }
  | { kind: "pipe"; input: Writable; output: Readable };

interface PipeTransport {
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
  setProtocolVersion(version: string): void;
  protocolVersion?: string;
  onmessage?: (message: Loose) => void;
  onclose?: () => void;
}

/** The client's end of stdin and stdout without a process: one message per line. */
function pipeTransport(input: Writable, output: Readable): PipeTransport {
  let rest = "";
  const transport: PipeTransport = {
    async start() {
      output.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line));
      });
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
      transport.onclose?.();
    },
    setProtocolVersion(version) {
      transport.protocolVersion = version;
    },
  };
  return transport;
}

const httpOptions = (key: string | undefined) =>
  key === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${key}` } } };

function newTransport(way: Way): Loose {
  if (way.kind === "http") return new StreamableHTTPClientTransport(new URL(way.url), httpOptions(way.key));
  if (way.kind === "process") return new StdioClientTransport({ ...way, stderr: "ignore" });
  return pipeTransport(way.input, way.output);
}

function oldTransport(way: Way): Loose {
  if (way.kind === "http") return new OldHttpTransport(new URL(way.url), httpOptions(way.key));
  if (way.kind === "process") return new OldStdioTransport({ ...way, stderr: "ignore" });
  return pipeTransport(way.input, way.output);
}

const IDENTITY = { name: "bot", version: "1.0.0" };

async function everyPage(list: (cursor?: string) => Promise<Loose>): Promise<Loose[]> {
  const tools: Loose[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(cursor);
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** Connects an official client without sending anything yet. */
export async function connectMcp(era: Era, way: Way): Promise<McpConnection> {
  if (era === "old") {
    const client = new OldClient(IDENTITY);
    await client.connect(oldTransport(way));
    const transport = client.transport as { protocolVersion?: string };
    return {
      protocolVersion: transport.protocolVersion,
      listTools: () => everyPage((cursor) => client.listTools(cursor === undefined ? {} : { cursor })),
      callTool: (name, args) => client.callTool({ name, arguments: args }),
      readResource: (uri) => client.readResource({ uri }),
      close: () => client.close(),
    };
  }
  const client = new Client(IDENTITY, { versionNegotiation: { mode: { pin: PROTOCOLS.new } } });
  await client.connect(newTransport(way));
  return {
    protocolVersion: client.getNegotiatedProtocolVersion(),
    listTools: () => everyPage((cursor) => client.listTools(cursor === undefined ? {} : { cursor })),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    readResource: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  };
}
