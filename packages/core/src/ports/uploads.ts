import type { Readable } from "node:stream";

/** Which file is meant: made of ids that are ours. Nothing that a caller wrote is part of it. */
export interface FileName {
  tenant: string;
  submissionId: string;
  uploadId: string;
}

/** A file as it was announced. */
export interface AnnouncedFile {
  name: FileName;
  sizeBytes: number;
  mimeType: string;
}

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** Somebody else is sending this file right now. */
export class UploadBusy extends Error {
  override name = "UploadBusy";
}

/** The bytes do not make the announced file: too many of them, too few, or at another place than the next one. */
export class UploadMisfit extends Error {
  override name = "UploadMisfit";
}

/** The storage can't be reached, or has no room. */
export class StorageDown extends Error {
  override name = "StorageDown";
}

/** For a storage that clients can't reach: this server takes the bytes and hands them on. */
export interface ReceivingWay {
  kind: "through_us";
  /** How many bytes there are, and whether the file was sealed; 0 when none came yet. */
  received(name: FileName): Promise<{ bytes: number; sealed: boolean }>;
  /**
   * Takes bytes from `from` on and answers how many there are then. The file has arrived, durably, when all announced bytes came;
   * until then no `seal` sees it. `isWhole`: a stream that does not make the whole file leaves nothing behind; otherwise what came
   * is kept for whoever goes on, and `from` must be the number of bytes there; no more bytes, after the last of them, make them
   * the arrived file, however the one who sent them ended. Never takes a byte more than announced.
   *
   * Throws `UploadBusy` while another call is running, or when the file was taken away meanwhile, `UploadMisfit` for bytes that
   * don't fit, and what `bytes` throws.
   */
  receive(
    file: AnnouncedFile,
    bytes: AsyncIterable<Uint8Array>,
    how: { from: number; isWhole: boolean },
  ): Promise<number>;
}

/** A file in parts that are sent on their own. */
export interface SignedParts {
  multipartId: string;
  partBytes: number;
  parts: { partNumber: number; sizeBytes: number; url: string }[];
}

/** For a storage that clients reach by themselves, with URLs that it has signed. */
export interface DirectWay {
  kind: "direct";
  /** A URL that takes exactly the announced bytes, as the announced type. */
  signPut(file: AnnouncedFile, ttlMs: number): Promise<{ url: string; headers: Record<string, string> }>;
  /** A URL that gives the sealed file, to be saved and never shown. */
  signGet(name: FileName, as: { disposition: string; mimeType: string; ttlMs: number }): Promise<string>;
  /** URLs for all parts; without `multipartId` of a file that is begun now. */
  signParts(file: AnnouncedFile, options: { multipartId?: string; ttlMs: number }): Promise<SignedParts>;
  /** Throws `UploadMisfit` when the parts are not those of the file. */
  joinParts(file: AnnouncedFile, multipartId: string, etags: readonly string[]): Promise<void>;
}

/** Where files rest. Not every deployment has one. All of it throws `StorageDown` when the storage can't do it now. */
export interface UploadStorage {
  /** The largest file that it takes. */
  readonly maxBytes: number;
  readonly way: ReceivingWay | DirectWay;
  /**
   * Takes what has arrived out of every client's reach: from the first success on, nothing that anybody sends changes it, and every
   * call answers the same. Undefined when no whole file has arrived.
   */
  seal(name: FileName): Promise<{ sizeBytes: number } | undefined>;
  /** The bytes of a sealed file; whoever does not read them to the end destroys the stream. Throws when there is none. */
  read(name: FileName, range?: ByteRange): Promise<Readable>;
  /** Nothing of the file remains, whatever there was: parts, the arrived and the sealed file. Nothing is fine, too. */
  drop(name: FileName): Promise<void>;
  /**
   * Files that nobody has touched for `idleMs`, by the storage's own clock, page by page; the first page without `after`. A page may
   * be empty before the last.
   */
  list(page: { after?: string; idleMs: number }): Promise<{ names: FileName[]; next?: string }>;
}
