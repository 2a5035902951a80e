import type { IncomingMessage } from "node:http";
import { ContractError, type Operations } from "@formbridge/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendAnswer } from "./encode.ts";
import { type ByteRange, parseRange } from "./parse/range.ts";
import type { CookieOptions } from "./session-cookie.ts";

export interface UploadBytesOptions extends CookieOptions {
  operations: Operations;
  /** How long a client may be silent while it sends. */
  idleMs: number;
}

/** The paths that carry files themselves: JSON and its limits do not apply here, a signed URL is all that opens them. */
export const BYTE_PATHS = [
  { method: "PUT", path: "/uploads/:uploadId" },
  { method: "GET", path: "/uploads/:uploadId" },
  { method: "HEAD", path: "/uploads/:uploadId/resumable" },
  { method: "PATCH", path: "/uploads/:uploadId/resumable" },
  { method: "POST", path: "/uploads/:uploadId/resumable" },
] as const;

/** A request whose body takes as long as its client needs, as long as bytes keep coming. */
export const carriesBytes = ({ method, url }: { method?: string | undefined; url?: string | undefined }): boolean =>
  (method === "PUT" && /^\/uploads\/[^/?]+(?:\?|$)/.test(url ?? "")) ||
  (method === "PATCH" && /^\/uploads\/[^/?]+\/resumable(?:\?|$)/.test(url ?? ""));

export function registerUploadBytes(app: FastifyInstance, options: UploadBytesOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Whatever type was announced: the body stays a stream that the handler reads.
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
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
          return await serveTus({ request, reply, upload, body });
        }),
    });
  });
}

function grantOf(request: FastifyRequest): { uploadId: string; grant: string } {
  const { uploadId = "" } = request.params as { uploadId?: string };
  const { grant, ...others } = request.query as Record<string, unknown>;
  if (typeof grant !== "string" || Object.keys(others).length > 0) {
    throw new ContractError("forbidden", "This path needs a URL that this server has signed, as it was given.");
  }
  return { uploadId, grant };
}

function announcedBy({ headers }: FastifyRequest): { contentLength?: number; contentType?: string } {
  const length = headers["content-length"];
  const type = headers["content-type"];
  return {
    ...(length !== undefined && headers["transfer-encoding"] === undefined && { contentLength: Number(length) }),
    ...(type !== undefined && { contentType: type }),
  };
}

/** What is this small is read to its end and thrown away; for more, the connection is given up. */
const MAX_DRAIN = 1_048_576;

/** A refusal while the body is still coming: whoever sends it should stop. */
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

/** Bodies that nobody wants any more. */
const unwanted = new WeakSet<IncomingMessage>();

/** The next request on this connection must not wait for one that was given up. */
function drain(raw: IncomingMessage): void {
  unwanted.add(raw);
  raw.removeAllListeners("readable");
  setImmediate(() => raw.resume());
}

const ended = (cause: unknown): ContractError =>
  new ContractError("bad_request", "The body ended too early.", { cause });

/** The body, piece by piece. Silence ends it, slowness does not: the time is counted anew with every piece. */
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
    const words = `No byte came for ${idleMs} ms.`;
    timer = setTimeout(() => reject(new ContractError("bad_request", words, { retryable: true })), idleMs);
  });
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** To be saved, never shown: whatever is inside, no browser runs it in our name. */
const SAVED_ONLY = {
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-site",
  "cache-control": "no-store",
  "accept-ranges": "bytes",
};

async function sendFile(request: FastifyRequest, reply: FastifyReply, operations: Operations): Promise<FastifyReply> {
  const file = await operations.readUpload(grantOf(request));
  const etag = `"${file.sha256}"`;
  const range = rangeOf(request, { etag, sizeBytes: file.sizeBytes });
  const { start, end } = range ?? { start: 0, end: file.sizeBytes - 1 };
  // Before a header is set: a file that can't be read is no attachment.
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

/** `If-Range`: a part is of use only to whoever has another part of the same file. */
function rangeOf({ headers }: FastifyRequest, file: { etag: string; sizeBytes: number }): ByteRange | undefined {
  const wanted = headers["if-range"];
  return wanted === undefined || wanted === file.etag ? parseRange(headers.range, file.sizeBytes) : undefined;
}
