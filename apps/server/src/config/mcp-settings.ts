import { TOOLS_MODES, type ToolsMode } from "@formbridge/mcp";
import { ConfigError, type Reader } from "./reader.ts";

export interface McpChoice {
  /** Whether MCP is served over HTTP. */
  enabled: boolean;
  tools: ToolsMode;
  hosts: string[];
  origins: string[];
  key?: string;
  askTimeoutMs: number;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

const listOf = (text: string | undefined): string[] =>
  text
    ?.split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "") ?? [];

/** The hosts and origins accepted at `/mcp`: our own, and those that the operator adds. */
export function mcpOf(read: Reader, { host, publicUrl }: { host: string; publicUrl: string | undefined }): McpChoice {
  const known = publicUrl === undefined ? undefined : new URL(publicUrl);
  const key = read.optional("FORMBRIDGE_MCP_KEY");
  const origins = listOf(read.optional("FORMBRIDGE_MCP_ORIGINS"));
  const odd = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin.toLowerCase());
  if (odd !== undefined) {
    throw new ConfigError(
      `FORMBRIDGE_MCP_ORIGINS has ${JSON.stringify(odd)}; it takes origins like https://app.example.com, with commas.`,
    );
  }
  return {
    askTimeoutMs: read.number("FORMBRIDGE_MCP_ASK_TIMEOUT_MS", { min: 1 }),
    enabled: read.isOn("FORMBRIDGE_MCP"),
    tools: read.oneOf("FORMBRIDGE_MCP_TOOLS", TOOLS_MODES),
    hosts: [
      ...LOOPBACK,
      host.includes(":") ? `[${host}]` : host,
      ...(known ? [known.hostname] : []),
      ...listOf(read.optional("FORMBRIDGE_MCP_HOSTS")),
    ],
    origins: [...(known ? [known.origin] : []), ...origins],
    ...(key !== undefined && { key }),
  };
}
