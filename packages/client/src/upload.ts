import type { ConfirmUploadResponse } from "@formbridge/contract";
import { sendFile, type UploadTicket } from "./send-file.ts";
import type { Transport } from "./transport.ts";

/** A file and its name. A browser's `File` fits; in Node, `fs.openAsBlob` makes the blob. */
export interface FileToSend {
  content: Blob;
  filename: string;
  mimeType?: string;
}

export interface UploadOptions {
  onProgress?(sentBytes: number, totalBytes: number): void;
  signal?: AbortSignal;
  /** Checked by the server when it is given. */
  sha256?: string;
}

/** An upload in progress. */
export interface FileUpload {
  /** Settles when the server has checked and taken the file, or refused it. */
  readonly done: Promise<ConfirmUploadResponse>;
  /** Known once the file is announced; keep it to continue after a reload. */
  readonly ticket: UploadTicket | undefined;
  pause(): void;
  resume(): void;
  /** Stops sending, and abandons the upload on the server. */
  abandon(): Promise<void>;
}

/** The calls that frame an upload: they go through the submission, which sends one write at a time. */
export interface UploadCalls {
  transport: Transport;
  announce(): Promise<UploadTicket>;
  confirm(uploadId: string): Promise<ConfirmUploadResponse>;
  abandon(uploadId: string): Promise<void>;
}

const PAUSED = Symbol("paused");

export function startUpload(calls: UploadCalls, file: Blob, options: UploadOptions): FileUpload {
  const stopped = new AbortController();
  const signal = options.signal === undefined ? stopped.signal : AbortSignal.any([options.signal, stopped.signal]);
  let ticket: UploadTicket | undefined;
  let pausing = new AbortController();
  let resumed = Promise.withResolvers<void>();
  let isPaused = false;

  async function run(): Promise<ConfirmUploadResponse> {
    ticket = await calls.announce();
    while (true) {
      if (isPaused) await Promise.race([resumed.promise, whenAborted(signal)]);
      signal.throwIfAborted();
      try {
        await sendFile({
          transport: calls.transport,
          ticket,
          file,
          signal: AbortSignal.any([signal, pausing.signal]),
          onProgress: (sent) => options.onProgress?.(sent, file.size),
        });
        return await calls.confirm(ticket.uploadId);
      } catch (error) {
        if (error !== PAUSED) throw error;
      }
    }
  }

  const done = run();
  // A caller that abandons an upload need not handle `done`.
  done.catch(() => {});
  return {
    done,
    get ticket() {
      return ticket;
    },
    pause() {
      if (isPaused) return;
      isPaused = true;
      resumed = Promise.withResolvers();
      pausing.abort(PAUSED);
    },
    resume() {
      if (!isPaused) return;
      isPaused = false;
      pausing = new AbortController();
      resumed.resolve();
    },
    async abandon() {
      stopped.abort(new DOMException("The upload was abandoned.", "AbortError"));
      await done.catch(() => {});
      if (ticket !== undefined) await calls.abandon(ticket.uploadId);
    },
  };
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
