import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Archive, ArchivePlace } from "@formbridge/core";

/** A name as a file can have it: whatever a tenant is called, it stays in its folder. */
const safe = (name: string): string =>
  Array.from(Buffer.from(name), (byte) => {
    const letter = String.fromCharCode(byte);
    return /[\w-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, "0")}`;
  }).join("");

async function withFile(path: string, flags: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await use(file);
  } finally {
    await file.close();
  }
}

/** A name is safe when the folder that holds it is. */
const syncFolder = (path: string): Promise<void> => withFile(path, "r", (folder) => folder.sync());

const orNothing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== "ENOENT") throw error;
};

/** No document takes that long to be written: whoever began it is gone. */
const ABANDONED_MS = 3_600_000;

/** Documents that are being written. One that a crash left tells of a person like any other, and goes with the next work here. */
function createDrafts(folder: string) {
  async function clear(submissionId?: string): Promise<void> {
    for (const name of (await readdir(folder).catch(orNothing)) ?? []) {
      const path = join(folder, name);
      const age = Date.now() - ((await stat(path).catch(orNothing))?.mtimeMs ?? 0);
      const isUnwanted = submissionId !== undefined && name.startsWith(`${safe(submissionId)}.`);
      if (isUnwanted || age > ABANDONED_MS) await rm(path, { force: true });
    }
  }
  return {
    clear,
    async begin(submissionId: string): Promise<string> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await clear();
      return join(folder, `${safe(submissionId)}.${randomUUID()}.tmp`);
    },
  };
}

/** One file for each submission, `<folder>/<tenant>/<intake>/<submissionId>.json`, which only its owner reads. */
export function createDiskArchive(folder: string): Archive {
  // No tenant is called so: a dot in a name is written otherwise.
  const drafts = createDrafts(join(folder, ".drafts"));
  const fileOf = ({ tenant, intakeId, submissionId }: ArchivePlace): string =>
    join(folder, safe(tenant), safe(intakeId), `${safe(submissionId)}.json`);

  return {
    async put(place, document) {
      const path = fileOf(place);
      const ofIntake = dirname(path);
      await mkdir(ofIntake, { recursive: true, mode: 0o700 });
      const draft = await drafts.begin(place.submissionId);
      try {
        await withFile(draft, "wx", async (file) => {
          await file.writeFile(`${JSON.stringify(document, undefined, 2)}\n`);
          await file.sync();
        });
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      for (const each of [ofIntake, dirname(ofIntake), folder]) await syncFolder(each);
    },
    async drop(place) {
      const path = fileOf(place);
      await drafts.clear(place.submissionId);
      await rm(path, { force: true });
      await syncFolder(dirname(path)).catch(orNothing);
    },
  };
}
