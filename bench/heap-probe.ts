/** Preloaded by the soak (`--import`, with `--expose-gc`): replies to each message with the heap in use after a full collection, in MB. */
process.on("message", () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage().heapUsed / 1024 / 1024);
});
// The channel alone must not keep a stopped server alive.
process.channel?.unref();
