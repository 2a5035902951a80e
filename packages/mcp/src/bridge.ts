import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createLineWire, type LineWireOptions } from "./line-wire.ts";

export interface BridgeOptions {
  /** The server's endpoint, `…/mcp`. */
  url: string;
  key?: string;
  input?: Readable;
  output?: Writable;
  maxMessageBytes: number;
  parse: LineWireOptions["parse"];
  onError(error: Error): void;
}

/** Connects a host on stdin and stdout to a remote server, passing every message on unchanged. */
export async function bridgeStdio(options: BridgeOptions): Promise<{ ended: Promise<void>; finish(): void }> {
  const { url, key, input = process.stdin, output = process.stdout } = options;
  const onError = (error: Error): void => options.onError(new Error(wordsOf(error, key)));
  const { maxMessageBytes, parse } = options;
  const { transport: near, finish } = createLineWire({ input, output, maxMessageBytes, parse });
  // Loaded here because only the bridge needs a client.
  const client = await import("@modelcontextprotocol/client");
  const far = new client.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } },
  });
  const answer = (message: JSONRPCMessage): void => {
    near.send(message).catch(onError);
  };
  far.onmessage = (message) => {
    noteVersion(message, far);
    answer(message);
  };
  far.onerror = onError;
  near.onerror = onError;
  near.onmessage = (message) => {
    far.send(message).catch((error: Error) => {
      onError(error);
      // Without a response the host would wait for its own timeout.
      if ("method" in message && "id" in message) answer(unreachable(message.id, wordsOf(error, key)));
    });
  };
  const ended = new Promise<void>((resolve) => {
    near.onclose = () => {
      far.close().catch(onError);
      // An open stdin would keep the process alive.
      input.destroy();
      resolve();
    };
  });
  await far.start();
  await near.start();
  return { ended, finish };
}

/** Older revisions require the negotiated version in every later request. */
function noteVersion(message: JSONRPCMessage, far: StreamableHTTPClientTransport): void {
  if (!("result" in message)) return;
  const { protocolVersion } = message.result as { protocolVersion?: unknown };
  if (typeof protocolVersion === "string") far.setProtocolVersion(protocolVersion);
}

/** Why it failed. A server's response may repeat what it was sent, so remove the API key. */
function wordsOf({ message, cause }: Error, key: string | undefined): string {
  const why = cause instanceof Error && !message.includes(cause.message) ? `${message} (${reasonOf(cause)})` : message;
  return key === undefined ? why : why.replaceAll(key, "[key]");
}

const reasonOf = (cause: Error & { code?: unknown }): string =>
  cause.message === "" ? String(cause.code ?? cause.name) : cause.message;

const unreachable = (id: string | number, words: string): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32000, message: `The FormBridge server couldn't be reached: ${words.slice(0, 300)}` },
});
