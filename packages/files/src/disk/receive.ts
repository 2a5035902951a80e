import { constants } from "node:fs";
import { type FileHandle, mkdir, open, stat } from "node:fs/promises";
import { type AnnouncedFile, StorageFull, UploadBusy, UploadMisfit } from "@formbridge/core";
import { codeOf, removed, renamed, syncFolder, writeAll } from "./durable.ts";
import type { Places } from "./places.ts";

export interface ReceiveOptions {
  from: number;
  isWhole: boolean;
  /** A writer that hasn't written for this long is dead. */
  deadAfterMs: number;
  /** How many bytes the disk can take. */
  room(): Promise<number>;
}

/** Concurrent uploads can use up the space that each was promised, so check again after this many bytes. */
const ROOM_CHECK_BYTES = 8 * 1024 * 1024;

/**
 * One writer per file, even among several processes on one folder: whoever creates or renames the `.busy` file owns it.
 * Only after the file is written and closed does it get the name under which it can be sealed.
 */
export async function receive(
  places: Places,
  file: AnnouncedFile,
  { bytes, options }: { bytes: AsyncIterable<Uint8Array>; options: ReceiveOptions },
): Promise<number> {
  await mkdir(places.folder, { recursive: true, mode: 0o700 });
  if (!options.isWhole && (await exists(places.whole))) return await goOnAfterEnd(file, bytes, options);
  await requireRoom(file.sizeBytes - options.from, options);
  const handle = await take(places, options.deadAfterMs);
  let count = 0;
  try {
    count = await begin(handle, options);
    count = await pour(handle, bytes, { from: count, most: file.sizeBytes, room: options.room });
    if (options.isWhole && count < file.sizeBytes) {
      throw new UploadMisfit(`${file.sizeBytes} bytes were announced, but ${count} arrived.`);
    }
  } catch (error) {
    await leave(places, handle, { ...options, sizeBytes: file.sizeBytes });
    throw error;
  }
  await handle.sync();
  await handle.close();
  const isThere = await renamed(places.busy, count === file.sizeBytes ? places.whole : places.part);
  await refuseSealed(places);
  if (!isThere) throw new UploadBusy("the file was removed meanwhile");
  await syncFolder(places.folder);
  return count;
}

async function requireRoom(bytes: number, { room }: Pick<ReceiveOptions, "room">): Promise<void> {
  if (bytes > 0 && (await room()) < bytes) throw new StorageFull("the disk has not enough free space for the file");
}

/** The file is complete; nothing may follow. */
async function goOnAfterEnd(
  { sizeBytes }: AnnouncedFile,
  bytes: AsyncIterable<Uint8Array>,
  { from }: ReceiveOptions,
): Promise<number> {
  if (from !== sizeBytes) throw new UploadMisfit(`All ${sizeBytes} bytes have already arrived.`);
  for await (const piece of bytes) {
    if (piece.length > 0) throw new UploadMisfit(`${sizeBytes} bytes were announced, but more arrived.`);
  }
  return sizeBytes;
}

/** Discard bytes that arrive after the file was sealed. */
async function refuseSealed(places: Places): Promise<void> {
  if (!(await exists(places.kept))) return;
  await removed(places.whole);
  await removed(places.part);
  throw new UploadBusy("the file was sealed meanwhile");
}

const TRIES = 5;

async function take(places: Places, deadAfterMs: number): Promise<FileHandle> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (await renamed(places.part, places.busy)) return await open(places.busy, "r+");
    try {
      const made = await open(places.busy, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600);
      if (!(await exists(places.part))) return made;
      // Another writer stopped between the two checks: continue with the file it left.
      await made.close();
      await removed(places.busy);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      if (!(await isDead(places.busy, deadAfterMs))) throw new UploadBusy("the file is being written");
      await renamed(places.busy, places.part);
    }
  }
  throw new UploadBusy("the file is being written");
}

const exists = async (path: string): Promise<boolean> =>
  await stat(path).then(
    () => true,
    () => false,
  );

async function isDead(path: string, deadAfterMs: number): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > deadAfterMs;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  }
}

async function begin(handle: FileHandle, { from, isWhole }: ReceiveOptions): Promise<number> {
  if (isWhole) await handle.truncate(0);
  const now = new Date();
  await handle.utimes(now, now);
  const { size } = await handle.stat();
  if (size !== from) throw new UploadMisfit(`${size} bytes have arrived. Continue after these, not after ${from}.`);
  return size;
}

/** Writes no more bytes than announced, and buffers no more than one chunk. */
async function pour(
  handle: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
  { from, most, room }: { from: number; most: number; room: ReceiveOptions["room"] },
): Promise<number> {
  let count = from;
  let checkAt = from + ROOM_CHECK_BYTES;
  for await (const piece of bytes) {
    if (count >= checkAt) {
      await requireRoom(piece.length, { room });
      checkAt = count + ROOM_CHECK_BYTES;
    }
    if (count + piece.length > most) throw new UploadMisfit(`${most} bytes were announced, but more arrived.`);
    await writeAll(handle, piece, count);
    count += piece.length;
  }
  return count;
}

/** Keeps what arrived before the connection broke; if that was everything, the file is complete. */
async function leave(
  places: Places,
  handle: FileHandle,
  { isWhole, sizeBytes }: Pick<ReceiveOptions, "isWhole"> & { sizeBytes: number },
): Promise<void> {
  if (isWhole) {
    await handle.close();
    await removed(places.busy);
    return;
  }
  const size = await handle.sync().then(
    async () => (await handle.stat()).size,
    () => undefined,
  );
  await handle.close();
  if (size === 0) await removed(places.busy);
  else await renamed(places.busy, size === sizeBytes ? places.whole : places.part);
}
