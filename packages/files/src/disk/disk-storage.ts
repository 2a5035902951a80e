import { createReadStream } from "node:fs";
import { link, open, readdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileName, UploadStorage } from "@formbridge/core";
import { codeOf, diskError, removed, syncFolder } from "./durable.ts";
import { nameOf, type Places, placesOf, STAGES } from "./places.ts";
import { receive } from "./receive.ts";

export interface DiskOptions {
  /** Created on first use, readable only by its owner. */
  folder: string;
  /** How long a client may pause while uploading. A writer silent for twice as long is considered dead. */
  idleMs: number;
  /** Bytes to keep free on the disk, where the database may be too. */
  reserveBytes: number;
  /** Free bytes on the folder's disk; asks the disk by default. */
  freeBytes?: () => Promise<number>;
}

const READ_BYTES = 64 * 1024;

/** Files in a folder. Several instances may share it, on a file system with hard links. */
export function createDiskStorage({ folder, idleMs, reserveBytes, ...disk }: DiskOptions): UploadStorage {
  const at = (name: FileName): Places => placesOf(folder, name);
  const { freeBytes = () => freeOn(folder) } = disk;
  const room = async (): Promise<number> => Math.max(0, (await freeBytes()) - reserveBytes);
  return {
    maxBytes: Number.MAX_SAFE_INTEGER,
    room: () => orDown(room()),
    way: {
      kind: "through_us",
      received: (name) => orDown(received(at(name))),
      receive: (file, bytes, how) =>
        orDown(receive(at(file.name), file, { bytes, options: { ...how, deadAfterMs: 2 * idleMs, room } })),
    },
    seal: (name) => orDown(seal(at(name))),
    read: async (name, range) => {
      const handle = await orDown(open(at(name).kept, "r"));
      // Open the handle first, so that a missing file is reported now and not on the first read.
      return createReadStream("", { fd: handle, highWaterMark: READ_BYTES, ...range });
    },
    drop: (name) => orDown(drop(at(name))),
    list: (page) => orDown(list(folder, page)),
  };
}

/** The folder is created with its first file; until then, look at its nearest existing parent. */
async function freeOn(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const above = dirname(folder);
    if (codeOf(error) !== "ENOENT" || above === folder) throw error;
    return await freeOn(above);
  }
}

async function orDown<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw diskError(error);
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function received({ part, busy, whole, kept }: Places): Promise<{ bytes: number; sealed: boolean }> {
  const sealed = await sizeOf(kept);
  if (sealed !== undefined) return { bytes: sealed, sealed: true };
  for (const path of [whole, part, busy]) {
    const size = await sizeOf(path);
    if (size !== undefined) return { bytes: size, sealed: false };
  }
  return { bytes: 0, sealed: false };
}

/** Creating a hard link is exclusive, so a `.kept` file is never replaced. */
async function seal({ folder, whole, kept }: Places): Promise<{ sizeBytes: number } | undefined> {
  try {
    await link(whole, kept);
    await syncFolder(folder);
  } catch (error) {
    if (!["EEXIST", "ENOENT"].includes(codeOf(error))) throw error;
  }
  await removed(whole);
  const sizeBytes = await sizeOf(kept);
  return sizeBytes === undefined ? undefined : { sizeBytes };
}

async function drop(places: Places): Promise<void> {
  const gone = await Promise.all(STAGES.map((stage) => removed(places[stage])));
  if (gone.includes(true)) await syncFolder(places.folder);
}

const SHARDS = 256;

/** One folder per page: the first non-empty one after `after`. */
async function list(
  root: string,
  { after, idleMs }: { after?: string; idleMs: number },
): Promise<{ names: FileName[]; next?: string }> {
  for (let shard = after === undefined ? 0 : Number.parseInt(after, 16) + 1; shard < SHARDS; shard++) {
    const text = shard.toString(16).padStart(2, "0");
    const entries = await readdir(join(root, text)).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
    if (entries.length > 0) return { names: await idle(join(root, text), entries, idleMs), next: text };
  }
  return { names: [] };
}

async function idle(folder: string, entries: readonly string[], idleMs: number): Promise<FileName[]> {
  const names = new Map<string, FileName>();
  for (const entry of entries) {
    const name = nameOf(entry);
    if (name === undefined) continue;
    const touched = await stat(join(folder, entry)).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    if (Date.now() - touched >= idleMs) names.set(name.uploadId, name);
  }
  return [...names.values()];
}
