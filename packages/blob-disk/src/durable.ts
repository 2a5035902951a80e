import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { StorageDown } from "@formbridge/core";

export const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | undefined)?.code);

/** What the disk refuses is not the caller's mistake. */
const DOWN = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EPERM", "EMFILE", "ENFILE", "ESTALE", "ENOTCONN"]);

/** Turns a disk that can't into the port's word for it. */
export function diskError(error: unknown): unknown {
  return DOWN.has(codeOf(error)) ? new StorageDown(`the disk says ${codeOf(error)}`, { cause: error }) : error;
}

/** A new name is durable when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** True when there was something to rename. */
export async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

export async function removed(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** All of it, however often the system takes only a part. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}
