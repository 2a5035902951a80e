import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

const PROGRAM = `
import { createLoggers } from ${JSON.stringify(new URL("./logger.ts", import.meta.url).href)};
const { logger, flush } = createLoggers("info");
process.stdin.once("data", async () => {
  logger.info("nobody reads this");
  await flush();
  process.exit();
});
process.stderr.write("ready");
`;

test("a process whose output nobody reads any more still ends", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stderr, "data");
  child.stdout.destroy();
  child.stdin.end("go");
  expect(await once(child, "exit")).toEqual([0, null]);
});
