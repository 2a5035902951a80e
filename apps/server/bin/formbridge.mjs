#!/usr/bin/env node
import { enableCompileCache } from "node:module";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`FormBridge needs Node 22.18 or newer; this is ${process.version}.\n`);
  process.exit(1);
}
// Caches compiled code in the system's temporary folder, so that later starts are faster.
enableCompileCache();
await import("../src/main.ts");
