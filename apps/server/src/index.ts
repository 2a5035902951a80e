export { type ComposeOptions, type Core, composeCore } from "./compose.ts";
export { type Config, readConfig } from "./config/config.ts";
export { ConfigError } from "./config/reader.ts";
export { createFormBridge, type FormBridge, type FormBridgeOptions } from "./create-formbridge.ts";
export { type RunningServer, type ServeOptions, serve } from "./serve.ts";
