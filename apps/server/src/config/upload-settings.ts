import { join } from "node:path";
import type { Settings } from "@formbridge/core";
import type { S3Options, ScanOptions } from "@formbridge/files";
import { bad, ConfigError, isWebUrl, type Reader } from "./reader.ts";

export interface UploadsChoice {
  storage: { kind: "disk"; folder: string; reserveBytes: number } | ({ kind: "s3" } & S3Options);
  /** Absent: files are checked but not scanned. */
  scan?: ScanOptions;
  idleMs: number;
}

export function uploadsOf(read: Reader, dataFolder: string): UploadsChoice {
  const scan = scanOf(read);
  const reserveBytes = read.number("FORMBRIDGE_UPLOAD_DISK_RESERVE_BYTES");
  return {
    storage: s3Of(read) ?? { kind: "disk", folder: join(dataFolder, "uploads"), reserveBytes },
    ...(scan !== undefined && { scan }),
    idleMs: read.number("FORMBRIDGE_UPLOAD_IDLE_MS", { min: 1 }),
  };
}

/** The limits enforced by operations; the disk's reserve is enforced by the storage. */
export const uploadQuotasOf = (read: Reader): Settings["uploadQuotas"] => ({
  intakeBytes: read.number("FORMBRIDGE_UPLOAD_QUOTA_INTAKE_BYTES"),
  addressBytes: read.number("FORMBRIDGE_UPLOAD_QUOTA_ADDRESS_BYTES"),
});

/** 0 means no limit. */
export const submissionQuotaOf = (read: Reader): number =>
  read.number("FORMBRIDGE_UPLOAD_QUOTA_SUBMISSION_BYTES") || Number.MAX_SAFE_INTEGER;

const S3_ONLY = ["FORMBRIDGE_S3_ENDPOINT", "FORMBRIDGE_S3_ACCESS_KEY_ID", "FORMBRIDGE_S3_SECRET_ACCESS_KEY"] as const;

function s3Of(read: Reader): UploadsChoice["storage"] | undefined {
  const bucket = read.optional("FORMBRIDGE_S3_BUCKET");
  if (bucket === undefined) {
    const lonely = S3_ONLY.find((name) => read.optional(name) !== undefined);
    if (lonely === undefined) return undefined;
    throw new ConfigError(`${lonely} is set, but FORMBRIDGE_S3_BUCKET is not: set it to the bucket that files go to.`);
  }
  const endpoint = read.checked("FORMBRIDGE_S3_ENDPOINT", isWebUrl, "a URL, http or https");
  const prefix = read.text("FORMBRIDGE_S3_PREFIX");
  if (!/^[\w./-]{0,200}$/.test(prefix)) throw bad("FORMBRIDGE_S3_PREFIX", prefix, "letters, digits and . _ - /");
  return {
    kind: "s3",
    bucket,
    region: read.text("FORMBRIDGE_S3_REGION"),
    forcePathStyle: read.flag("FORMBRIDGE_S3_FORCE_PATH_STYLE"),
    prefix,
    ...(endpoint !== undefined && { endpoint }),
    ...credentialsOf(read),
  };
}

function credentialsOf(read: Reader): Pick<S3Options, "credentials"> {
  const accessKeyId = read.optional("FORMBRIDGE_S3_ACCESS_KEY_ID");
  const secretAccessKey = read.optional("FORMBRIDGE_S3_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined && secretAccessKey === undefined) return {};
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ConfigError("FORMBRIDGE_S3_ACCESS_KEY_ID and FORMBRIDGE_S3_SECRET_ACCESS_KEY belong together: set both.");
  }
  return { credentials: { accessKeyId, secretAccessKey } };
}

function scanOf(read: Reader): ScanOptions | undefined {
  const command = read.optional("FORMBRIDGE_SCAN_COMMAND");
  const url = read.checked("FORMBRIDGE_SCAN_URL", isWebUrl, "a URL, http or https");
  const timeoutMs = read.number("FORMBRIDGE_SCAN_TIMEOUT_MS", { min: 1 });
  if (command !== undefined && url !== undefined) {
    throw new ConfigError("FORMBRIDGE_SCAN_COMMAND and FORMBRIDGE_SCAN_URL are both set: set only one of them.");
  }
  if (url !== undefined) return { kind: "url", url, timeoutMs };
  return command === undefined ? undefined : { kind: "command", argv: argvOf(command), timeoutMs };
}

/** Words separated by spaces, or a JSON array if a word contains a space. Not run through a shell. */
function argvOf(text: string): string[] {
  const isList = text.trimStart().startsWith("[");
  const argv: unknown = isList ? parsed(text) : text.trim().split(/\s+/);
  if (Array.isArray(argv) && argv.length > 0 && argv.every((word) => typeof word === "string" && word !== ""))
    return argv;
  throw new ConfigError("FORMBRIDGE_SCAN_COMMAND takes a program and its arguments, or a JSON array of them.");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
