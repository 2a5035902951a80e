export { createDiskArchive } from "./disk-archive.ts";
