import { PassThrough } from "node:stream";
import { parseJsonBody } from "@formbridge/core";
import { serveMcpStdio } from "@formbridge/mcp";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type ElicitRequest, ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { VERSION } from "../../apps/server/src/version.ts";
import type { TestServer } from "./harness.ts";

/** The host's end of stdin and stdout. */
function hostEnd(input: PassThrough, output: PassThrough): Transport {
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      input.on("data", (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) {
          transport.onmessage?.(message);
        }
      });
    },
    send: async (message) => void output.write(serializeMessage(message)),
    async close() {
      output.end();
      transport.onclose?.();
    },
  };
  return transport;
}

export interface OldHostOptions {
  key?: string;
  /** How the host's user responds to a question; without it the host can't ask. */
  onElicit?: (params: ElicitRequest["params"]) => ElicitResult | Promise<ElicitResult>;
}

/** A host with the client of the older revisions, on a connection that stays open. */
export async function connectOldMcp({ server }: TestServer, { key, onElicit }: OldHostOptions): Promise<Client> {
  const [toServer, toHost] = [new PassThrough(), new PassThrough()];
  serveMcpStdio({
    version: VERSION,
    binding: Promise.resolve(server.agents),
    caller: { address: "127.0.0.1", ...(key !== undefined && { apiKey: key }) },
    input: toServer,
    output: toHost,
    maxMessageBytes: 1_000_000,
    parse: (line) => parseJsonBody(line, { maxDepth: 64, maxKeys: 10_000 }),
    onError: () => {},
  });
  const capabilities = onElicit === undefined ? {} : { elicitation: { form: {}, url: {} } };
  const client = new Client({ name: "old-host", version: "1" }, { capabilities });
  if (onElicit !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => onElicit(params));
  await client.connect(hostEnd(toHost, toServer));
  return client;
}
