import { connect, type Socket } from "node:net";

/** A request as it goes over the wire: nothing is normalized, so that every byte can be wrong. */
export interface WireRequest {
  method: string;
  /** The request target, as it is sent. */
  path: string;
  headers: readonly (readonly [name: string, value: string])[];
  body?: Buffer;
  /** Sends the body in chunks instead of with a length. */
  chunked?: boolean;
}

export interface WireAnswer {
  status: number;
  /** Names in lower case; of a repeated one the last. */
  headers: Record<string, string>;
  /** The head as received, to search for what must not be in it. */
  head: string;
  body: string;
  /** It was a live stream, which was closed after its first bytes. */
  live: boolean;
}

const HEAD_END = "\r\n\r\n";
const TIMEOUT_MS = 20_000;

/** The bytes of a request. Header text is latin1, as HTTP has it. */
export function encodeRequest({ method, path, headers, body, chunked = false }: WireRequest): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  if (body === undefined) return Buffer.from(`${lines.join("\r\n")}${HEAD_END}`, "latin1");
  const isFramed = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  if (!isFramed) lines.push(chunked ? "transfer-encoding: chunked" : `content-length: ${body.length}`);
  const head = Buffer.from(`${lines.join("\r\n")}${HEAD_END}`, "latin1");
  return Buffer.concat(chunked ? [head, ...chunksOf(body)] : [head, body]);
}

function chunksOf(body: Buffer): Buffer[] {
  const size = Math.max(1, Math.ceil(body.length / 3));
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return [...chunks, Buffer.from("0\r\n\r\n")];
}

interface Parsed {
  answer: WireAnswer;
  used: number;
}

/** One response from the start of the bytes; undefined while it is incomplete. */
export function parseAnswer(bytes: Buffer, { method, ended }: { method: string; ended: boolean }): Parsed | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const [first = "", ...lines] = head.split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? "0");
  const start = end + HEAD_END.length;
  if (status >= 100 && status < 200) {
    const rest = parseAnswer(bytes.subarray(start), { method, ended });
    return rest && { ...rest, used: rest.used + start };
  }
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), textOf(line)]),
  );
  const make = (body: string, used: number, live = false): Parsed => ({
    answer: { status, headers, head, body, live },
    used,
  });
  if (method === "HEAD" || status === 204 || status === 304) return make("", start);
  if (headers["content-type"]?.startsWith("text/event-stream")) return make("", bytes.length, true);
  const length = headers["content-length"];
  if (length !== undefined) {
    const stop = start + Number(length);
    return bytes.length < stop ? undefined : make(bytes.toString("utf8", start, stop), stop);
  }
  if (headers["transfer-encoding"] === "chunked") return dechunked(bytes, start, make);
  return ended ? make(bytes.toString("utf8", start), bytes.length) : undefined;
}

const textOf = (line: string): string => line.slice(line.indexOf(":") + 1).trim();

function dechunked(bytes: Buffer, start: number, make: (body: string, used: number) => Parsed): Parsed | undefined {
  const parts: Buffer[] = [];
  for (let at = start; ; ) {
    const line = bytes.indexOf("\r\n", at);
    if (line === -1) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    const next = line + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return make(Buffer.concat(parts).toString("utf8"), next);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
}

export interface Connection {
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

/** One keep-alive connection that carries one request at a time, and is reopened when the server has closed it. */
export function createConnection(port: number): Connection {
  let socket: Socket | undefined;
  return {
    async send(request) {
      const reused = socket !== undefined && !socket.destroyed;
      const own = reused && socket !== undefined ? socket : await open(port);
      socket = own;
      const answer = await exchange(own, encodeRequest(request), request.method);
      if (answer === undefined) {
        socket = undefined;
        // A server may close an idle connection at any moment; a new one that is closed without a response is a finding.
        if (reused) return await this.send(request);
        throw new Error("the connection was closed without a response");
      }
      if (answer.live || answer.headers.connection === "close") {
        own.destroy();
        socket = undefined;
      }
      return answer;
    },
    close: () => socket?.destroy(),
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
  });
}

/** Writes bytes and reads one response; undefined if the connection closed before one arrived. */
function exchange(socket: Socket, bytes: Buffer, method: string): Promise<WireAnswer | undefined> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const done = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onClose);
      settle();
    };
    const timer = setTimeout(() => done(() => reject(new Error(`no response within ${TIMEOUT_MS} ms`))), TIMEOUT_MS);
    const look = (ended: boolean): void => {
      const parsed = parseAnswer(received, { method, ended });
      if (parsed !== undefined) done(() => resolve(parsed.answer));
      else if (ended) done(() => resolve(undefined));
    };
    const onData = (chunk: Buffer): void => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      look(false);
    };
    const onClose = (): void => look(true);
    socket.on("data", onData).on("close", onClose);
    if (socket.destroyed) onClose();
    else socket.write(bytes);
  });
}

/** Sends raw bytes on their own connection and reads every response until the server closes, or `waitMs` pass. */
export async function sendRaw(
  port: number,
  bytes: Buffer,
  options: { waitMs: number; method?: string },
): Promise<WireAnswer[]> {
  const { waitMs, method = "GET" } = options;
  const socket = await open(port);
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.write(bytes);
  });
  socket.destroy();
  const answers: WireAnswer[] = [];
  let rest: Buffer = Buffer.concat(chunks);
  for (;;) {
    const parsed = parseAnswer(rest, { method, ended: true });
    if (parsed === undefined) return answers;
    answers.push(parsed.answer);
    rest = rest.subarray(parsed.used);
  }
}
