import type { Readable, Writable } from "node:stream";
import type { Caller } from "@formbridge/core";
import type { McpServer, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpBinding } from "./binding.ts";
import { createLineWire, type LineWireOptions } from "./line-wire.ts";

export interface StdioOptions {
  binding: McpBinding;
  caller: Caller;
  input?: Readable;
  output?: Writable;
  maxMessageBytes: number;
  parse: LineWireOptions["parse"];
  onError(error: Error): void;
}

/** Serves one host over standard input and output; `ended` resolves when the host has closed its side. */
export function serveMcpStdio(options: StdioOptions): { ended: Promise<void>; finish(): void } {
  const { binding, caller, input = process.stdin, output = process.stdout, onError } = options;
  const { maxMessageBytes, parse } = options;
  const { transport: wire, finish } = createLineWire({ input, output, maxMessageBytes, parse });
  const make = binding.serverFor(caller);
  const serving = new Set<Server>();
  serveStdio(
    async (context) => {
      const server = (await make(context)) as Exclude<Awaited<ReturnType<typeof make>>, McpServer>;
      serving.add(server);
      return server;
    },
    { transport: wire, onerror: onError },
  );
  const stop = binding.onToolsChanged(() => {
    for (const server of serving) if (server.transport !== undefined) server.sendToolListChanged().catch(onError);
  });
  const ended = new Promise<void>((resolve) => {
    const served = wire.onclose;
    wire.onclose = () => {
      stop();
      served?.();
      // An input that is still open would keep the process.
      input.destroy();
      resolve();
    };
  });
  return { ended, finish };
}
