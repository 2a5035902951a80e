/**
 * Loaded by every worker. If the test run is killed, its workers would continue with their tests, and keep the servers that these started.
 * Files share a worker, so the listener may be there already.
 */
const end = (): never => process.exit(1);
if (!process.listeners("disconnect").some(({ name }) => name === end.name)) process.once("disconnect", end);
