import { type FileUpload, FormBridgeError, type Submission, type UploadTicket } from "@formbridge/client";
import type { FileProgress, FormFiles } from "../form-context.ts";

interface Moving extends FileProgress {
  path: string;
  file: File;
  upload: FileUpload;
  /** The upload was interrupted and can continue from where it was. */
  ticket?: UploadTicket | undefined;
}

/** Uploads in progress, for the form to show. Calls `changed` whenever there is something new to show. */
export class Uploads implements FormFiles {
  readonly #started: () => Promise<Submission>;
  readonly #changed: () => void;
  readonly #done: () => Promise<void>;
  #moving: readonly Moving[] = [];
  #count = 0;

  constructor(started: () => Promise<Submission>, { changed, done }: { changed(): void; done(): Promise<void> }) {
    this.#started = started;
    this.#changed = changed;
    this.#done = done;
  }

  /** A new object each time: a file field is drawn again when it is given another one. */
  shown(): FormFiles {
    return {
      inFlight: (path) => this.inFlight(path),
      send: (path, file) => this.send(path, file),
      pause: (id) => this.pause(id),
      resume: (id) => this.resume(id),
      cancel: (id) => this.cancel(id),
      urlOf: (uploadId) => this.urlOf(uploadId),
    };
  }

  inFlight(path: string): readonly FileProgress[] {
    return this.#moving.filter((each) => each.path === path);
  }

  send(path: string, file: File): void {
    this.#count += 1;
    const id = String(this.#count);
    this.#start({ id, path, file, filename: file.name, sizeBytes: file.size, sentBytes: 0, state: "sending" }).catch(
      () => {},
    );
  }

  pause(id: string): void {
    this.#find(id)?.upload.pause();
    this.#update(id, { state: "paused" });
  }

  resume(id: string): void {
    const moving = this.#find(id);
    if (moving === undefined) return;
    if (moving.state === "paused") {
      moving.upload.resume();
      this.#update(id, { state: "sending" });
      return;
    }
    const { reason: _reason, upload: _upload, ...again } = moving;
    this.#remove(id);
    this.#start({ ...again, state: "sending", ...(again.ticket === undefined && { sentBytes: 0 }) }).catch(() => {});
  }

  cancel(id: string): void {
    const moving = this.#find(id);
    this.#remove(id);
    moving?.upload.abandon().then(this.#done, () => {});
  }

  async urlOf(uploadId: string): Promise<string | undefined> {
    return (await (await this.#started()).file(uploadId)).url;
  }

  async #start(about: Omit<Moving, "upload">): Promise<void> {
    const { id, path, file } = about;
    const submission = await this.#started();
    const options = {
      onProgress: (sentBytes: number, total: number) =>
        this.#update(id, { sentBytes, ...(sentBytes >= total && { state: "checking" as const }) }),
    };
    const announced = { content: file, filename: file.name, ...(file.type !== "" && { mimeType: file.type }) };
    const upload =
      about.ticket === undefined
        ? submission.upload(path, announced, options)
        : submission.resumeUpload(about.ticket, file, options);
    this.#moving = [...this.#moving, { ...about, upload }];
    this.#changed();
    upload.done.then(
      async () => {
        await this.#done();
        this.#remove(id);
      },
      (error: unknown) => {
        if (this.#find(id) === undefined) return;
        const isRefused = error instanceof FormBridgeError && !error.retryable;
        const outcome = isRefused ? { reason: error.message, ticket: undefined } : { ticket: upload.ticket };
        this.#update(id, { state: "failed", ...outcome });
      },
    );
  }

  #find(id: string): Moving | undefined {
    return this.#moving.find((each) => each.id === id);
  }

  #update(id: string, change: Partial<Moving>): void {
    this.#moving = this.#moving.map((each) => (each.id === id ? { ...each, ...change } : each));
    this.#changed();
  }

  #remove(id: string): void {
    this.#moving = this.#moving.filter((each) => each.id !== id);
    this.#changed();
  }
}
