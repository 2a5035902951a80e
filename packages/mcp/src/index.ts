export { createMcpBinding, type McpBinding, type McpOptions, type McpRequest } from "./binding.ts";
export { bridgeStdio } from "./bridge.ts";
export { TOOLS_MODES, type ToolsMode } from "./catalog.ts";
export { serveMcpStdio } from "./stdio.ts";
