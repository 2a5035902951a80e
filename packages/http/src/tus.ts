import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import type { ErrorType } from "@formbridge/contract";
import { ContractError, type ResumableUpload } from "@formbridge/core";
import { DataStore, MemoryLocker, Server, Upload } from "@tus/server";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface TusRequest {
  request: FastifyRequest;
  reply: FastifyReply;
  upload: ResumableUpload;
  body: AsyncIterable<Uint8Array> | undefined;
}

/** A client that resumes its upload ends its own earlier request, which may still be hanging. */
const locker = new MemoryLocker();
const DRAIN_MS = 200;

/** The store of one upload. It exists since the file was announced, so there is nothing to create. */
class OneUpload extends DataStore {
  readonly #upload: ResumableUpload;

  constructor(upload: ResumableUpload) {
    super();
    this.#upload = upload;
    this.extensions = ["creation"];
  }

  override async create(asked: Upload): Promise<Upload> {
    const { sizeBytes } = this.#upload;
    if (asked.size === sizeBytes) return asked;
    throw new ContractError(
      "bad_request",
      `${sizeBytes} bytes were announced, not ${asked.size ?? "an unknown number"}.`,
    );
  }

  override async getUpload(): Promise<Upload> {
    const { uploadId: id, sizeBytes: size } = this.#upload;
    return new Upload({ id, size, offset: await this.#upload.received() });
  }

  override async write(bytes: Readable, _id: string, offset: number): Promise<number> {
    return await this.#upload.append(bytes, offset);
  }
}

/** The library's status codes as error types of the contract. */
const TYPES: Record<number, ErrorType> = {
  403: "bad_request",
  404: "not_found",
  409: "conflict",
  410: "token_expired",
  412: "bad_request",
  413: "payload_too_large",
  415: "unsupported_media_type",
  423: "conflict",
  // Another request didn't release the upload in time.
  500: "service_unavailable",
};

/** Serves tus 1.0 for one upload. The library implements the protocol; its refusals get our error envelope. */
export async function serveTus(about: TusRequest): Promise<FastifyReply> {
  const { reply, upload } = about;
  let thrown: unknown;
  const server = new Server({
    path: "/",
    datastore: new OneUpload(upload),
    locker,
    lockDrainTimeout: DRAIN_MS,
    generateUrl: () => upload.url,
    namingFunction: () => upload.uploadId,
    getFileIdFromRequest: () => upload.uploadId,
    onResponseError: async (_request, error) => {
      thrown = error;
      return undefined;
    },
  });
  const response = await server.handleWeb(webRequest(about));
  reply.header("tus-resumable", "1.0.0");
  if (response.status >= 400) throw refusalOf(response.status, thrown, await response.text());
  for (const name of ["upload-offset", "upload-length", "location"]) {
    const value = response.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  return reply.code(response.status).send();
}

function refusalOf(status: number, thrown: unknown, words: string): unknown {
  if (thrown instanceof ContractError) return thrown;
  if (thrown instanceof Error && !("status_code" in thrown)) return thrown;
  const type = TYPES[status] ?? "bad_request";
  return new ContractError(type, words.trim() || "The request doesn't match the upload.");
}

function webRequest({ request, body }: TusRequest): Request {
  const headers = new Headers();
  // Without a body, don't pass on headers about one: the bytes of a POST are ignored.
  const told = body === undefined ? /^(?:tus-|upload-)/ : /^(?:tus-|upload-|content-)/;
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === "string" && told.test(name)) headers.set(name, value);
  }
  const { method } = request;
  const url = `http://upload${request.url}`;
  if (body === undefined) return new Request(url, { method, headers });
  const stream = Readable.toWeb(Readable.from(body, { objectMode: false })) as WebStream<Uint8Array>;
  return new Request(url, {
    method,
    headers,
    body: stream as unknown as ReadableStream,
    duplex: "half",
  } as RequestInit);
}
