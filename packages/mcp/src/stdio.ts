import type { Readable, Writable } from "node:stream";
import type { Caller } from "@formbridge/core";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpBinding } from "./binding.ts";
import { createLineWire, type LineWireOptions } from "./line-wire.ts";
import { createServer } from "./server.ts";

export interface StdioOptions {
  version: string;
  /** A promise, because hosts expect `initialize` to be answered at once, while the rest is still starting. */
  binding: Promise<McpBinding>;
  caller: Caller;
  input?: Readable;
  output?: Writable;
  maxMessageBytes: number;
  parse: LineWireOptions["parse"];
  onError(error: Error): void;
}

/** Serves one host on stdin and stdout; `ended` resolves when the host has closed its side. */
export function serveMcpStdio(options: StdioOptions): { ended: Promise<void>; finish(): void } {
  const { version, binding, caller, input = process.stdin, output = process.stdout, onError } = options;
  const { maxMessageBytes, parse } = options;
  const { transport: wire, finish } = createLineWire({ input, output, maxMessageBytes, parse, ready: binding });
  const parts = binding.then((bound) => bound.parts);
  // The code that starts the binding handles its failure; here it becomes the response to requests.
  parts.catch(() => undefined);
  const serving = new Set<Server>();
  serveStdio(
    () => {
      const server = createServer({ version, caller, parts });
      serving.add(server);
      return server;
    },
    { transport: wire, onerror: onError },
  );
  const watching = binding.then(
    ({ onToolsChanged }) =>
      onToolsChanged(() => {
        for (const server of serving) if (server.transport !== undefined) server.sendToolListChanged().catch(onError);
      }),
    () => undefined,
  );
  const ended = new Promise<void>((resolve) => {
    const served = wire.onclose;
    wire.onclose = () => {
      watching.then((stop) => stop?.()).catch(onError);
      served?.();
      // An open stdin would keep the process alive.
      input.destroy();
      resolve();
    };
  });
  return { ended, finish };
}
