import type { Readable } from "node:stream";

/** Identifies a file by ids that we generated; contains nothing from callers. */
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

/** Another request is sending this file. */
export class UploadBusy extends Error {
  override name = "UploadBusy";
}

/** The bytes don't match the announced file: too many, too few, or at the wrong offset. */
export class UploadMisfit extends Error {
  override name = "UploadMisfit";
}

/** The storage is unreachable or full. */
export class StorageDown extends Error {
  override name = "StorageDown";
}

/** Accepting the file would leave less free space than configured. */
export class StorageFull extends StorageDown {
  override name = "StorageFull";
}

/** For a storage that clients can't reach: the server receives the bytes. */
export interface ReceivingWay {
  kind: "through_us";
  /** Bytes received so far, and whether the file was sealed. */
  received(name: FileName): Promise<{ bytes: number; sealed: boolean }>;
  /**
   * Appends bytes at offset `from` and returns the total. The file is complete, and durable, once all announced bytes have arrived;
   * `seal` ignores it until then. With `isWhole`, an incomplete stream leaves nothing behind. Otherwise received bytes are kept, and
   * `from` must equal their number; a call without bytes after the last one completes the file, even if the earlier call failed.
   * Never accepts more bytes than announced.
   *
   * Throws `StorageFull` if there is no room, before the first byte or later; `UploadBusy` while another call runs or if the file was
   * dropped meanwhile; `UploadMisfit` for bytes that don't match; and whatever `bytes` throws.
   */
  receive(
    file: AnnouncedFile,
    bytes: AsyncIterable<Uint8Array>,
    how: { from: number; isWhole: boolean },
  ): Promise<number>;
}

/** A multipart upload. */
export interface SignedParts {
  multipartId: string;
  partBytes: number;
  parts: { partNumber: number; sizeBytes: number; url: string }[];
}

/** For a storage that clients reach directly, with signed URLs. */
export interface DirectWay {
  kind: "direct";
  /** A URL that accepts exactly the announced size and type. */
  signPut(file: AnnouncedFile, ttlMs: number): Promise<{ url: string; headers: Record<string, string> }>;
  /** A URL that downloads the sealed file as an attachment. */
  signGet(name: FileName, as: { disposition: string; mimeType: string; ttlMs: number }): Promise<string>;
  /** URLs for all parts; starts a multipart upload if `multipartId` is absent. */
  signParts(file: AnnouncedFile, options: { multipartId?: string; ttlMs: number }): Promise<SignedParts>;
  /** Throws `UploadMisfit` if the parts don't match the file. */
  joinParts(file: AnnouncedFile, multipartId: string, etags: readonly string[]): Promise<void>;
}

/** File storage. Optional. Every method throws `StorageDown` when the storage is unavailable. */
export interface UploadStorage {
  /** The largest file that it accepts. */
  readonly maxBytes: number;
  /** Bytes left before the reserve that must stay free. Absent: unlimited. */
  room?(): Promise<number>;
  readonly way: ReceivingWay | DirectWay;
  /**
   * Freezes the received file: after the first success no client can change it, and every call returns the same. Undefined if no
   * complete file has arrived.
   */
  seal(name: FileName): Promise<{ sizeBytes: number } | undefined>;
  /** The bytes of a sealed file. The caller reads to the end or destroys the stream. Throws if there is none. */
  read(name: FileName, range?: ByteRange): Promise<Readable>;
  /** Removes everything of the file: parts, the received and the sealed file. Fine if there is nothing. */
  drop(name: FileName): Promise<void>;
  /**
   * Files that weren't touched for `idleMs`, by the storage's own clock; the first page without `after`. Pages before the last may
   * be empty.
   */
  list(page: { after?: string; idleMs: number }): Promise<{ names: FileName[]; next?: string }>;
}
