import type { Json, JsonObject } from "@formbridge/contract";
import { isMaskedAt, MASK, type Masking } from "../fields/mask.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Upload } from "../submission.ts";

/** What reveals a sensitive file besides its content: its name and digest, as announced and as confirmed. */
type Told = Pick<Upload, "filename" | "sha256"> & { confirmed?: { filename: string; sha256: string } };

type Readable = Masking & Pick<CompiledIntake, "pathOf">;

export const isSensitiveUpload = ({ field }: Pick<Upload, "field">, intake: Readable): boolean =>
  isMaskedAt(intake.pathOf(field), intake);

/** Splits the uploads: `open` is safe to store as is; `sealed` holds what reveals sensitive files, by upload. */
export function splitUploads(uploads: Upload[], intake: Readable): { open: Upload[]; sealed?: JsonObject } {
  const sealed: JsonObject = {};
  const open = uploads.map((upload) => {
    if (!isSensitiveUpload(upload, intake)) return upload;
    const { filename, sha256, confirmed, ...rest } = upload;
    sealed[upload.uploadId] = {
      filename,
      ...(sha256 !== undefined && { sha256 }),
      ...(confirmed && { confirmed: { filename: confirmed.filename, sha256: confirmed.sha256 } }),
    };
    return {
      ...rest,
      filename: MASK,
      ...(sha256 !== undefined && { sha256: MASK }),
      ...(confirmed && { confirmed: { ...confirmed, filename: MASK, sha256: MASK } }),
    };
  });
  return Object.keys(sealed).length === 0 ? { open: uploads } : { open, sealed };
}

/** Undoes `splitUploads`. */
export function joinUploads(open: Upload[], sealed: Json | undefined): Upload[] {
  if (sealed === undefined) return open;
  const known = sealed as unknown as Record<string, Told | undefined>;
  return open.map((upload) => {
    const { confirmed, ...told } = known[upload.uploadId] ?? {};
    return { ...upload, ...told, ...(upload.confirmed && { confirmed: { ...upload.confirmed, ...confirmed } }) };
  });
}
