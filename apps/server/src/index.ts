export { type ComposeOptions, type Core, composeCore } from "./compose.ts";
export { type Config, ConfigError, readConfig } from "./config/config.ts";
export { createFormBridge, type FormBridge, type FormBridgeOptions } from "./create-formbridge.ts";
export { type RunningServer, type ServeOptions, serve } from "./serve.ts";
