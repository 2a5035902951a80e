export { createOaiProvider, type OaiProvider, type OaiSettings } from "./provider.ts";
