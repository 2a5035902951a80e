import type { IncomingMessage } from "node:http";
import { ContractError, type Operations, type UploadContent } from "@formbridge/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendAnswer } from "./encode.ts";
import { parseRange } from "./parse/range.ts";
import type { CookieOptions } from "./session-cookie.ts";

export interface UploadBytesOptions extends CookieOptions {
  operations: Operations;
  /** Idle timeout while a client sends. */
  idleMs: number;
}

/** Paths that transfer file contents. JSON limits don't apply; the signed URL is the only credential. */
export const BYTE_PATHS = [
  { method: "PUT", path: "/uploads/:uploadId" },
  { method: "GET", path: "/uploads/:uploadId" },
  { method: "HEAD", path: "/uploads/:uploadId/resumable" },
  { method: "PATCH", path: "/uploads/:uploadId/resumable" },
  { method: "POST", path: "/uploads/:uploadId/resumable" },
] as const;

/** Requests with an idle timeout instead of a total one. */
export const carriesBytes = ({ method, url }: { method?: string | undefined; url?: string | undefined }): boolean =>
  (method === "PUT" && /^\/uploads\/[^/?]+(?:\?|$)/.test(url ?? "")) ||
  (method === "PATCH" && /^\/uploads\/[^/?]+\/resumable(?:\?|$)/.test(url ?? ""));

export function registerUploadBytes(app: FastifyInstance, options: UploadBytesOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Any content type: the handler reads the body as a stream.
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.addHook("onRequest", setTypeAside);
    const { operations } = options;
    scope.put("/uploads/:uploadId", async (request, reply) => {
      const answer = await closing(request, reply, async () => {
        const bytes = bodyOf(request, options.idleMs);
        return await operations.receiveUpload({ ...grantOf(request), ...announcedBy(request), bytes });
      });
      return sendAnswer(reply, answer, options);
    });
    scope.route({
      method: ["GET", "HEAD"],
      url: "/uploads/:uploadId",
      handler: async (request, reply) => await sendFile(request, reply, operations),
    });
    scope.route({
      method: ["HEAD", "PATCH", "POST"],
      url: "/uploads/:uploadId/resumable",
      handler: async (request, reply) =>
        await closing(request, reply, async () => {
          const upload = await operations.resumeUpload(grantOf(request));
          const body = request.method === "PATCH" ? bodyOf(request, options.idleMs) : undefined;
          const { serveTus } = await import("./tus.ts");
          return await serveTus({ request, reply, upload, body }).catch((error: unknown) => {
            throw upload.explain(error);
          });
        }),
    });
  });
}

function grantOf(request: FastifyRequest): { uploadId: string; grant: string } {
  const { uploadId = "" } = request.params as { uploadId?: string };
  const { grant, ...others } = request.query as Record<string, unknown>;
  if (typeof grant !== "string" || Object.keys(others).length > 0) {
    throw new ContractError("forbidden", "This path needs a URL that this server has signed. Use it unchanged.", {
      nextActions: [{ action: "request_upload", hint: "Use the URL unchanged, or announce the file again." }],
    });
  }
  return { uploadId, grant };
}

/** The Content-Type that the client sent, verbatim. */
const givenTypes = new WeakMap<IncomingMessage, string>();

/** Fastify rejects malformed content types before our handler could name the expected one. */
function setTypeAside({ raw }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const type = raw.headers["content-type"];
  if (type !== undefined && raw.method === "PUT") {
    givenTypes.set(raw, type);
    raw.headers["content-type"] = "application/octet-stream";
  }
  done();
}

function announcedBy({ headers, raw }: FastifyRequest): { contentLength?: number; contentType?: string } {
  const length = headers["content-length"];
  const type = givenTypes.get(raw);
  return {
    ...(length !== undefined && headers["transfer-encoding"] === undefined && { contentLength: Number(length) }),
    ...(type !== undefined && { contentType: type }),
  };
}

/** Up to this size the rest of a refused body is drained; beyond it the connection is closed. */
const MAX_DRAIN = 1_048_576;

/** After a refusal, stops the client from sending the rest of the body. */
async function closing<T>(request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { raw } = request;
    const left = Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY);
    if (!raw.complete && left > MAX_DRAIN) reply.header("connection", "close");
    else if (!raw.readableEnded) drain(raw);
    throw error;
  }
}

/** Bodies of refused requests. */
const unwanted = new WeakSet<IncomingMessage>();

/** Read the rest so that the next request on this connection can proceed. */
function drain(raw: IncomingMessage): void {
  unwanted.add(raw);
  raw.removeAllListeners("readable");
  setImmediate(() => raw.resume());
}

const ended = (cause: unknown): ContractError =>
  new ContractError("bad_request", "The body ended before all announced bytes had arrived. Send the file again.", {
    cause,
  });

/** The body in chunks, with an idle timeout per chunk. */
async function* bodyOf({ raw }: FastifyRequest, idleMs: number): AsyncGenerator<Uint8Array, void, undefined> {
  if (unwanted.has(raw)) return;
  const pieces = raw.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const { done, value } = await within(pieces.next(), idleMs);
      if (done === true) break;
      yield value as Uint8Array;
    }
  } catch (error) {
    throw error instanceof ContractError ? error : ended(error);
  }
  if (!raw.complete) throw ended(undefined);
}

async function within<T>(next: Promise<T>, idleMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const words = `Nothing was received for ${idleMs} ms.`;
    timer = setTimeout(() => reject(new ContractError("bad_request", words, { retryable: true })), idleMs);
  });
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Download only: a browser must never run the content on our origin. */
const SAVED_ONLY = {
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-site",
  "cache-control": "no-store",
  "accept-ranges": "bytes",
};

async function sendFile(request: FastifyRequest, reply: FastifyReply, operations: Operations): Promise<FastifyReply> {
  const file = await operations.readUpload(grantOf(request));
  try {
    return await sendContent(request, reply, file);
  } catch (error) {
    throw file.explain(error);
  }
}

async function sendContent(request: FastifyRequest, reply: FastifyReply, file: UploadContent): Promise<FastifyReply> {
  const etag = `"${file.sha256}"`;
  const range = rangeOf(request, { etag, sizeBytes: file.sizeBytes });
  if (range === "beyond") {
    reply.header("content-range", `bytes */${file.sizeBytes}`);
    throw new ContractError(
      "range_not_satisfiable",
      `The file has ${file.sizeBytes} bytes. Ask for a range within them.`,
      { nextActions: [{ action: "fetch_current_state", hint: "Ask for the whole file, or for a range within it." }] },
    );
  }
  const { start, end } = range ?? { start: 0, end: file.sizeBytes - 1 };
  // Open the file before setting headers, so that a failure is an ordinary error response.
  const bytes = request.method === "HEAD" ? undefined : await file.read(range);
  reply.headers({
    ...SAVED_ONLY,
    "content-type": file.mimeType,
    "content-disposition": file.disposition,
    "content-length": end - start + 1,
    etag,
    ...(range && { "content-range": `bytes ${start}-${end}/${file.sizeBytes}` }),
  });
  reply.code(range === undefined ? 200 : 206);
  return reply.send(bytes);
}

/** `If-Range`: send a part only if the client's other parts are of the same file. */
function rangeOf({ headers }: FastifyRequest, file: { etag: string; sizeBytes: number }) {
  const wanted = headers["if-range"];
  return wanted === undefined || wanted === file.etag ? parseRange(headers.range, file.sizeBytes) : undefined;
}
