import { constants } from "node:fs";
import { type FileHandle, mkdir, open, stat } from "node:fs/promises";
import { type AnnouncedFile, UploadBusy, UploadMisfit } from "@formbridge/core";
import { codeOf, removed, renamed, syncFolder, writeAll } from "./durable.ts";
import type { Places } from "./places.ts";

export interface ReceiveOptions {
  from: number;
  isWhole: boolean;
  /** A writer that has not written for so long is dead. */
  deadAfterMs: number;
}

/**
 * One writer a file, also among several processes on one folder: whoever makes or renames the `.busy` file has it. The file is
 * written by one process, closed, and only then gets the name under which it can be sealed.
 */
export async function receive(
  places: Places,
  file: AnnouncedFile,
  { bytes, options }: { bytes: AsyncIterable<Uint8Array>; options: ReceiveOptions },
): Promise<number> {
  await mkdir(places.folder, { recursive: true, mode: 0o700 });
  if (!options.isWhole && (await exists(places.whole))) return await goOnAfterEnd(file, bytes, options);
  const handle = await take(places, options.deadAfterMs);
  let count = 0;
  try {
    count = await begin(handle, options);
    count = await pour(handle, bytes, { from: count, most: file.sizeBytes });
    if (options.isWhole && count < file.sizeBytes) {
      throw new UploadMisfit(`${file.sizeBytes} bytes were announced, ${count} came.`);
    }
  } catch (error) {
    await leave(places, handle, { ...options, sizeBytes: file.sizeBytes });
    throw error;
  }
  await handle.sync();
  await handle.close();
  const isThere = await renamed(places.busy, count === file.sizeBytes ? places.whole : places.part);
  await refuseSealed(places);
  if (!isThere) throw new UploadBusy("the file was taken away meanwhile");
  await syncFolder(places.folder);
  return count;
}

/** All of it is there: nothing can follow. */
async function goOnAfterEnd(
  { sizeBytes }: AnnouncedFile,
  bytes: AsyncIterable<Uint8Array>,
  { from }: ReceiveOptions,
): Promise<number> {
  if (from !== sizeBytes) throw new UploadMisfit(`All ${sizeBytes} bytes are there.`);
  for await (const piece of bytes) {
    if (piece.length > 0) throw new UploadMisfit(`${sizeBytes} bytes were announced, more came.`);
  }
  return sizeBytes;
}

/** What came too late for a file that was sealed meanwhile is nobody's. */
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
      // Another writer stopped between the two looks: what it left is the file.
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
  if (size !== from) throw new UploadMisfit(`${size} bytes are there: go on after them, not after ${from}.`);
  return size;
}

/** Never a byte more than announced, and never more in memory than the pieces that come. */
async function pour(
  handle: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
  { from, most }: { from: number; most: number },
): Promise<number> {
  let count = from;
  for await (const piece of bytes) {
    if (count + piece.length > most) throw new UploadMisfit(`${most} bytes were announced, more came.`);
    await writeAll(handle, piece, count);
    count += piece.length;
  }
  return count;
}

/** What came before a break is kept; when that was all of it, only the goodbye is missing. */
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
