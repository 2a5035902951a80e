export type { AgentBinding, AgentDoor } from "./agent-endpoint.ts";
export { HARVEST_PATH, type HarvestDoor } from "./harvest-endpoint.ts";
export { createOpenApi } from "./openapi.ts";
export { ROUTES } from "./routes.ts";
export { createHttpServer, type HttpOptions } from "./server.ts";
