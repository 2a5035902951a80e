import { type Readable, Transform, type Writable } from "node:stream";
import { ContractError, errorBody } from "@formbridge/core";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
} from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

export interface LineWireOptions {
  input: Readable;
  output: Writable;
  maxMessageBytes: number;
  /** Reads a line as strictly as HTTP reads a body; throws the contract's error for what can't be kept as it was written. */
  parse(line: Buffer): unknown;
  /** Settles when there is somebody who can answer; until then nobody is late. */
  ready?: Promise<unknown>;
}

export interface LineWire {
  transport: StdioServerTransport;
  /** Reads no more; closes when what was asked has its answer. */
  finish(): void;
}

/** How long a host that has closed its side, and may still read, is answered. Hosts that wait for the end wait no longer. */
const LINGER_MS = 2_000;

/** Lasts as long as the connection: it has no answer to wait for. */
const LISTEN = "subscriptions/listen";

type Id = string | number;

/** A message a line. What is no good is refused here, by name where it has one: its sender would wait for the answer. */
export function createLineWire(options: LineWireOptions): LineWire {
  const { input, output, maxMessageBytes, parse, ready } = options;
  const open = createOpenRequests();
  const refuse = (id: Id, code: number, error: ContractError): void => {
    const answer = { jsonrpc: "2.0" as const, id, error: { code, message: error.message, data: errorBody(error) } };
    transport.send(answer).catch(() => undefined);
  };
  const isGood = (line: Buffer): boolean => {
    try {
      const message = parse(line);
      if (isMessage(message)) {
        open.note(message);
        return true;
      }
      const id = idOf(message);
      if (id !== undefined) refuse(id, -32600, new ContractError("bad_request", "This is no message of JSON-RPC."));
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      const id = idIn(line);
      if (id !== undefined) refuse(id, -32700, error);
    }
    return false;
  };
  const answered = async (): Promise<void> => {
    await Promise.allSettled([ready]);
    await open.ended(LINGER_MS);
  };
  const lines = createLines({ maxMessageBytes, isGood, answered });
  const transport = new (class extends StdioServerTransport {
    override send(message: JSONRPCMessage): Promise<void> {
      const sent = super.send(message);
      open.settle(message);
      return sent;
    }
  })(lines, output, { maxBufferSize: maxMessageBytes });
  input.once("error", (error) => transport.onerror?.(error));
  input.once("close", () => lines.end());
  input.pipe(lines);
  return {
    transport,
    finish() {
      input.unpipe(lines);
      lines.end();
    },
  };
}

interface LinesOptions {
  maxMessageBytes: number;
  isGood(line: Buffer): boolean;
  answered(): Promise<void>;
}

/** Lets good lines through. One that is too long goes through as it is: the transport ends the connection. */
function createLines({ maxMessageBytes, isGood, answered }: LinesOptions): Transform {
  let parts: Buffer[] = [];
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        const line = Buffer.concat([...parts, chunk.subarray(from, end + 1)]);
        [parts, length, from] = [[], 0, end + 1];
        if (line.length > maxMessageBytes || isGood(line)) this.push(line);
      }
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > maxMessageBytes) {
        this.push(Buffer.concat(parts));
        [parts, length] = [[], 0];
      }
      done();
    },
    flush(done) {
      // A host that closes its side right behind its last message may have left the end of the line out.
      const last = Buffer.concat([...parts, Buffer.from("\n")]);
      if (length > 0 && isGood(last)) this.push(last);
      void answered().then(() => done());
    },
  });
}

const isMessage = (value: unknown): value is JSONRPCMessage =>
  isJSONRPCRequest(value) ||
  isJSONRPCNotification(value) ||
  isJSONRPCResultResponse(value) ||
  isJSONRPCErrorResponse(value);

function idOf(value: unknown): Id | undefined {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** The name of a request that is JSON, and not more. */
function idIn(line: Buffer): Id | undefined {
  try {
    return idOf(JSON.parse(line.toString("utf8")));
  } catch {
    return undefined;
  }
}

/** The requests that have no answer yet. */
function createOpenRequests() {
  const open = new Set<Id>();
  let allDone: (() => void) | undefined;
  const close = (id: unknown): void => {
    open.delete(id as Id);
    if (open.size === 0) allDone?.();
  };
  return {
    note(message: JSONRPCMessage): void {
      if (!("method" in message)) return;
      if ("id" in message && message.method !== LISTEN) open.add(message.id);
      // Who has given up is not answered.
      if (message.method === "notifications/cancelled") close(message.params?.requestId);
    },
    settle(message: JSONRPCMessage): void {
      if (!("method" in message)) close(message.id);
    },
    ended: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        if (open.size === 0) return resolve();
        const late = setTimeout(resolve, ms);
        allDone = () => {
          clearTimeout(late);
          resolve();
        };
      }),
  };
}
