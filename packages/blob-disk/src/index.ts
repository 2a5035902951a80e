export { createDiskStorage, type DiskOptions } from "./disk-storage.ts";
