import type { JsonObject } from "@formbridge/contract";
import { forgetInDocument, isSought } from "../../domain/traces.ts";
import type { Archive, ArchivePlace } from "../../ports/archive.ts";
import type { Erasure } from "./erase-page.ts";

/** Removes the document of a submission that the actor created; from others, only the actor. True if it held them. */
export async function eraseFromArchive(
  archive: Archive,
  { sought, dryRun }: Erasure,
  place: ArchivePlace,
): Promise<boolean> {
  const document = await archive.read(place);
  if (document === undefined) return false;
  const isOwn = isSought((document.submission as JsonObject | undefined)?.createdBy, sought);
  const rest = isOwn ? undefined : forgetInDocument(document, sought);
  if (!isOwn && rest === undefined) return false;
  if (dryRun) return true;
  if (rest === undefined) await archive.drop(place);
  else await archive.put(place, rest);
  return true;
}
