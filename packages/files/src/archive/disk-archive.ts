import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Archive, ArchivePlace } from "@formbridge/core";
import { syncFolder } from "../disk/durable.ts";

/** Encodes a name as a file name, so that no tenant can escape its folder. */
const safe = (name: string): string =>
  Array.from(Buffer.from(name), (byte) => {
    const letter = String.fromCharCode(byte);
    return /[\w-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, "0")}`;
  }).join("");

const orNothing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== "ENOENT") throw error;
};

/** Writing a document never takes this long, so its writer must have died. */
const ABANDONED_MS = 3_600_000;

/**
 * Documents being written. One left by a crash contains personal data like any other, so the next write or removal
 * cleans it up.
 */
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

const DOCUMENT = ".json";

/** Ids of intakes and submissions have only characters that `safe` leaves alone, so names of files are ids. */
const isAfter =
  (after: string) =>
  ({ intakeId, submissionId }: ArchivePlace): boolean => {
    const [intake = "", id = ""] = after.split("/");
    return intakeId > intake || (intakeId === intake && submissionId > id);
  };

/** One file per submission, `<folder>/<tenant>/<intake>/<submissionId>.json`, readable only by its owner. */
export function createDiskArchive(folder: string): Archive {
  // No tenant can have this name, because dots are encoded.
  const drafts = createDrafts(join(folder, ".drafts"));
  const fileOf = ({ tenant, intakeId, submissionId }: ArchivePlace): string =>
    join(folder, safe(tenant), safe(intakeId), `${safe(submissionId)}${DOCUMENT}`);

  return {
    async put(place, document) {
      const path = fileOf(place);
      const ofIntake = dirname(path);
      await mkdir(ofIntake, { recursive: true, mode: 0o700 });
      const draft = await drafts.begin(place.submissionId);
      try {
        const text = `${JSON.stringify(document, undefined, 2)}\n`;
        await writeFile(draft, text, { flag: "wx", mode: 0o600, flush: true });
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      for (const each of [ofIntake, dirname(ofIntake), folder]) await syncFolder(each);
    },
    async read(place) {
      const text = await readFile(fileOf(place), "utf8").catch(orNothing);
      return text === undefined ? undefined : (JSON.parse(text) as Awaited<ReturnType<Archive["read"]>>);
    },
    async list({ tenant, after }, limit) {
      const ofTenant = join(folder, safe(tenant));
      const found: ArchivePlace[] = [];
      for (const intakeId of ((await readdir(ofTenant).catch(orNothing)) ?? []).sort()) {
        if (intakeId < (after.split("/")[0] ?? "")) continue;
        const names = ((await readdir(join(ofTenant, intakeId))) ?? [])
          .filter((name) => name.endsWith(DOCUMENT))
          .sort();
        const ids = names.map((name) => name.slice(0, -DOCUMENT.length));
        found.push(...ids.map((submissionId) => ({ tenant, intakeId, submissionId })).filter(isAfter(after)));
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async drop(place) {
      const path = fileOf(place);
      await drafts.clear(place.submissionId);
      await rm(path, { force: true });
      await syncFolder(dirname(path)).catch(orNothing);
    },
  };
}
