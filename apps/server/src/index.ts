export { type ComposeOptions, type Core, composeCore } from "./compose.ts";
export { type Config, ConfigError, readConfig } from "./config/config.ts";
export { type RunningServer, serve } from "./serve.ts";
