export { createDiskArchive } from "./archive/disk-archive.ts";
export { createDiskStorage, type DiskOptions } from "./disk/disk-storage.ts";
export { createS3Storage, type S3Options } from "./s3/s3-storage.ts";
export { createScanner, type ScanOptions } from "./scan/scanner.ts";
