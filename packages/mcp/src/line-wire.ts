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
import { BATCH_REVISION, isTooMuch, TOO_MUCH } from "./batch.ts";
import { createBatches } from "./line-batches.ts";
import { createOpenRequests, type Id } from "./open-requests.ts";

export interface LineWireOptions {
  input: Readable;
  output: Writable;
  maxMessageBytes: number;
  /** Parses a line as strictly as an HTTP body; throws a contract error for what could not be stored as written. */
  parse(line: Buffer): unknown;
  /** Settles when the server is ready; until then no timeout runs. */
  ready?: Promise<unknown>;
}

export interface LineWire {
  transport: StdioServerTransport;
  /** Stops reading; closes when all requests have been answered. */
  finish(): void;
}

/**
 * How long to keep answering a host that has closed its side but may still read. Hosts that wait for the exit don't
 * wait longer.
 */
const LINGER_MS = 2_000;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

const bad = (message: string): ContractError => new ContractError("bad_request", message);

/**
 * One message per line, or one batch in the revision that has them. A bad line gets an error, with the request's id if
 * it has one, and reading continues.
 */
export function createLineWire(options: LineWireOptions): LineWire {
  const { input, output, maxMessageBytes, parse, ready } = options;
  const open = createOpenRequests();
  const batches = createBatches((answers) => output.write(`${JSON.stringify(answers)}\n`));
  let revision: string | undefined;

  const errorOf = (id: Id | null, code: number, error: ContractError) => ({
    jsonrpc: "2.0" as const,
    id,
    error: { code, message: error.message, data: errorBody(error) },
  });
  // Written directly, because the transport can't send an error without an id.
  const refuse = (id: Id | null, code: number, error: ContractError): void => {
    output.write(`${JSON.stringify(errorOf(id, code, error))}\n`);
  };

  /** The lines to pass on; empty if the line was refused. */
  function accept(line: Buffer): Buffer[] {
    if (line.toString("latin1").trim() === "") return [];
    try {
      const message = parse(line);
      if (Array.isArray(message)) return acceptBatch(message);
      if (!isMessage(message)) {
        refuse(idOf(message), INVALID_REQUEST, bad("This isn't a JSON-RPC message."));
        return [];
      }
      open.note(message);
      return [line];
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      refuse(idIn(line), PARSE_ERROR, error);
      return [];
    }
  }

  function acceptBatch(batch: readonly unknown[]): Buffer[] {
    const problem =
      revision !== BATCH_REVISION
        ? `Batches exist only in revision ${BATCH_REVISION}. Send one message per line.`
        : batch.length === 0
          ? "The batch is empty."
          : isTooMuch(batch) && TOO_MUCH;
    if (problem !== false) {
      refuse(null, INVALID_REQUEST, bad(problem));
      return [];
    }
    const good = batch.filter(isMessage);
    const odd = batch.filter((message) => !isMessage(message));
    for (const message of good) open.note(message);
    batches.begin(
      good.flatMap((message) => ("method" in message && "id" in message ? [message.id] : [])),
      odd.map((message) => errorOf(idOf(message), INVALID_REQUEST, bad("This isn't a JSON-RPC message."))),
    );
    return good.map((message) => Buffer.from(`${JSON.stringify(message)}\n`));
  }

  const answered = async (): Promise<void> => {
    await Promise.allSettled([ready]);
    await open.ended(LINGER_MS);
  };
  const tooLong = (): void =>
    refuse(
      null,
      INVALID_REQUEST,
      new ContractError("payload_too_large", `A line can have at most ${maxMessageBytes} bytes.`),
    );
  const lines = createLines({ maxMessageBytes, accept, tooLong, answered });
  const transport = new (class extends StdioServerTransport {
    override async send(message: JSONRPCMessage): Promise<void> {
      revision ??= revisionIn(message);
      try {
        if (!batches.take(message)) await super.send(message);
      } finally {
        open.settle(message);
      }
    }
  })(lines, output, { maxBufferSize: maxMessageBytes + 1 });
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

/** The revision negotiated at the start of a connection, read from the response. */
function revisionIn(message: JSONRPCMessage): string | undefined {
  if (!("result" in message)) return undefined;
  const { protocolVersion } = message.result as { protocolVersion?: unknown };
  return typeof protocolVersion === "string" ? protocolVersion : undefined;
}

interface LinesOptions {
  maxMessageBytes: number;
  accept(line: Buffer): Buffer[];
  tooLong(): void;
  answered(): Promise<void>;
}

/**
 * Splits the input into lines. A line that is too long is refused as soon as the limit is passed, and the rest of it is
 * skipped.
 */
function createLines({ maxMessageBytes, accept, tooLong, answered }: LinesOptions): Transform {
  let parts: Buffer[] = [];
  let length = 0;
  let isSkipping = false;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      while (from < chunk.length) {
        const end = chunk.indexOf(10, from);
        const piece = chunk.subarray(from, end < 0 ? undefined : end + 1);
        from += piece.length;
        length += piece.length;
        if (!isSkipping) parts.push(piece);
        if (!isSkipping && length > maxMessageBytes + 1) {
          tooLong();
          [parts, isSkipping] = [[], true];
        }
        if (end < 0) continue;
        const line = Buffer.concat(parts);
        if (!isSkipping) for (const good of accept(line)) this.push(good);
        [parts, length, isSkipping] = [[], 0, false];
      }
      done();
    },
    flush(done) {
      // A host that closes its side right after the last message may have omitted the newline.
      const last = Buffer.concat([...parts, Buffer.from("\n")]);
      if (length > 0 && !isSkipping) for (const good of accept(last)) this.push(good);
      void answered().then(() => done());
    },
  });
}

const isMessage = (value: unknown): value is JSONRPCMessage =>
  isJSONRPCRequest(value) ||
  isJSONRPCNotification(value) ||
  isJSONRPCResultResponse(value) ||
  isJSONRPCErrorResponse(value);

function idOf(value: unknown): Id | null {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** The id of a request, if the line is valid JSON. */
function idIn(line: Buffer): Id | null {
  try {
    return idOf(JSON.parse(line.toString("utf8")));
  } catch {
    return null;
  }
}
