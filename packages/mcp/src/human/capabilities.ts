import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

/**
 * The client's capabilities, from the call or else from the start of the connection; undefined if neither states them.
 */
export const capabilitiesOf = (server: Server, { mcpReq }: ServerContext): ClientCapabilities | undefined =>
  (mcpReq.envelope as Record<string, ClientCapabilities | undefined> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
  server.getClientCapabilities();
