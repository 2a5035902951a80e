import type { RequestUploadResponse, SignPartsResponse } from "@formbridge/contract";
import { FormBridgeError } from "./error.ts";
import type { Transport } from "./transport.ts";

/** What is needed to continue an upload, even after a reload of the page. Contains a signed URL: keep it private. */
export type UploadTicket = Pick<RequestUploadResponse, "uploadId" | "method" | "url" | "headers" | "resumable">;

export interface Sending {
  transport: Transport;
  ticket: UploadTicket;
  file: Blob;
  signal: AbortSignal;
  onProgress(sentBytes: number): void;
}

const CHUNK_BYTES = 4 * 1024 * 1024;
/** A chunk that fails this often in a row ends the upload; it can be resumed later. */
const TRIES = 6;
const TUS = { "tus-resumable": "1.0.0" };

/** Sends the bytes, from where an earlier try stopped. */
export async function sendFile(sending: Sending): Promise<void> {
  const { ticket } = sending;
  if (ticket.resumable?.protocol === "tus") await sendByTus(sending, ticket.resumable.url);
  else if (ticket.resumable?.protocol === "s3-multipart") await sendInParts(sending, ticket.resumable.url);
  else await sendWhole(sending);
}

async function sendWhole({ transport, ticket, file, signal, onProgress }: Sending): Promise<void> {
  await trying({ transport, signal }, async () => {
    // Browsers set the length themselves and don't allow setting it.
    const { "Content-Length": _length, ...headers } = ticket.headers ?? {};
    await checked(transport.fetch(ticket.url, { method: ticket.method, headers, body: file, signal }));
    onProgress(file.size);
  });
}

async function sendByTus({ transport, file, signal, onProgress }: Sending, url: string): Promise<void> {
  const offsetOf = (response: Response): number => Number(response.headers.get("upload-offset"));
  const received = () =>
    trying({ transport, signal }, async () =>
      offsetOf(await checked(transport.fetch(url, { method: "HEAD", headers: TUS, signal }))),
    );
  let offset = await received();
  let failures = 0;
  onProgress(offset);
  while (offset < file.size) {
    try {
      const headers = { ...TUS, "content-type": "application/offset+octet-stream", "upload-offset": String(offset) };
      const body = file.slice(offset, offset + CHUNK_BYTES);
      offset = offsetOf(await checked(transport.fetch(url, { method: "PATCH", headers, body, signal })));
      failures = 0;
    } catch (error) {
      failures = await afterFailure(error, { transport, signal, failures });
      // Part of the chunk may have arrived.
      offset = await received();
    }
    onProgress(offset);
  }
}

async function sendInParts({ transport, file, signal, onProgress }: Sending, url: string): Promise<void> {
  const sign = (body: object) =>
    trying({ transport, signal }, async () => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, signal };
      const response = await checked(transport.fetch(url, { ...init, body: JSON.stringify(body) }));
      return (await response.json()) as SignPartsResponse;
    });
  const { multipartId, partBytes = file.size, parts = [] } = await sign({});
  const etags: string[] = [];
  for (const part of parts) {
    const start = (part.partNumber - 1) * partBytes;
    const body = file.slice(start, start + part.sizeBytes);
    const response = await trying({ transport, signal }, () =>
      checked(transport.fetch(part.url, { method: "PUT", body, signal })),
    );
    etags.push(response.headers.get("etag") ?? "");
    onProgress(start + part.sizeBytes);
  }
  await sign({ multipartId, etags });
}

async function checked(pending: Promise<Response>): Promise<Response> {
  const response = await pending;
  if (response.ok) return response;
  const { status } = response;
  const retryable = status === 408 || status === 409 || status === 423 || status === 429 || status >= 500;
  const message = `The file was refused with status ${status}: ${(await response.text()).slice(0, 200)}`;
  throw new FormBridgeError("bad_answer", message, { status, retryable });
}

interface Patience {
  transport: Transport;
  signal: AbortSignal;
}

async function trying<Answer>({ transport, signal }: Patience, once: () => Promise<Answer>): Promise<Answer> {
  for (let failures = 0; ; ) {
    try {
      return await once();
    } catch (error) {
      failures = await afterFailure(error, { transport, signal, failures });
    }
  }
}

/** Waits before the next try, or gives up. Returns the number of failures in a row. */
async function afterFailure(error: unknown, { transport, signal, failures }: Patience & { failures: number }) {
  if (signal.aborted) throw signal.reason;
  const isFinal = error instanceof FormBridgeError && !error.retryable;
  if (isFinal || failures + 1 >= TRIES) throw error;
  await transport.sleep(transport.delay(failures + 1), signal);
  return failures + 1;
}
