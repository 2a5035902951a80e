import type { Instant } from "../domain/instant.ts";
import type { Upload } from "../domain/submission.ts";

/** Where files go. Not every deployment has one. */
export interface UploadStorage {
  /** A URL that takes exactly this file until the upload expires. */
  sign(
    upload: Upload,
    now: Instant,
  ): Promise<{ method: "PUT" | "POST"; url: string; headers?: Record<string, string> }>;
  /** What arrived, looked at anew; undefined when nothing did. */
  inspect(upload: Upload): Promise<{ sizeBytes: number; sha256: string; sniffedType: string } | undefined>;
  drop(upload: Upload): Promise<void>;
}
