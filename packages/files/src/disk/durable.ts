import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { StorageDown } from "@formbridge/core";

export const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | undefined)?.code);

/** Disk errors that aren't the caller's fault. */
const DOWN = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EPERM", "EMFILE", "ENFILE", "ESTALE", "ENOTCONN"]);

/** Turns a failing disk into the port's error. */
export function diskError(error: unknown): unknown {
  return DOWN.has(codeOf(error)) ? new StorageDown(`the disk says ${codeOf(error)}`, { cause: error }) : error;
}

/** A new name is durable once its folder is synced. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** True if there was a file to rename. */
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

/** Writes everything, even if the system accepts only a part at a time. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}
