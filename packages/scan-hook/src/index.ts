export { createScanner, type ScanOptions } from "./scanner.ts";
