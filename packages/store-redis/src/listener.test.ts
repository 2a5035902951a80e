import * as driver from "redis";
import { expect, it, onTestFinished, vi } from "vitest";
import { ownRedis } from "../../../test/support/services/redis.ts";
import { parseRedisUrl } from "./address.ts";
import { createListener } from "./listener.ts";

async function listening(checkEveryMs: number) {
  const server = await ownRedis();
  const address = parseRedisUrl(server.url);
  if (address === undefined) throw new Error("the test's Redis has a URL");
  const listener = createListener(driver, address, { checkEveryMs });
  onTestFinished(async () => {
    listener.close();
    await server.remove();
  });
  const missed = vi.fn();
  listener.listen("news", { hear: () => {}, missed });
  await vi.waitFor(() => expect(missed).toHaveBeenCalled(), 5_000);
  missed.mockClear();
  return { server, missed };
}

it("notices a silent server, and reports that messages may be lost", async () => {
  const { server, missed } = await listening(50);
  server.pause();
  await vi.waitFor(() => expect(missed).toHaveBeenCalled(), 10_000);
  server.resume();
  missed.mockClear();
  await vi.waitFor(() => expect(missed).toHaveBeenCalled(), 5_000);
});

it("keeps asking subscribers to check while there is no server", async () => {
  const { server, missed } = await listening(5_000);
  await server.kill();
  await vi.waitFor(() => expect(missed.mock.calls.length).toBeGreaterThan(1), 5_000);
});
