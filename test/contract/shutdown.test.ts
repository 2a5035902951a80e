import { expect, it } from "vitest";
import { type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import { startTestServer } from "../support/harness.ts";
import { AGENT, create, created, createLatch, idempotencyKey, setFields, until } from "../support/moves.ts";
import { openStream } from "../support/sse.ts";

/** An orchestrator does not wait forever. */
const soon = (stopped: Promise<void>): Promise<void> =>
  Promise.race([
    stopped,
    new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error("it did not stop within 5 seconds")), 5000).unref();
    }),
  ]);

it.each(["sqlite", "memory"] as const)(
  "[RUNNING-SHUTDOWN-FINISHES] [RUNNING-SHUTDOWN-CLOSED] a write in flight is answered, then no connection is accepted (%s)",
  async (store) => {
    const server = await startTestServer({ store });
    await server.putIntake({ id: "forms" });
    const made = await created(server, "forms");
    const { backend } = server.server.core;
    const commit = backend.store.commit.bind(backend.store);
    const latch = createLatch();
    let held = 0;
    backend.store.commit = async (change) => {
      held += 1;
      await latch.opened;
      return await commit(change);
    };
    const writes = [setFields(server, made.resumeToken, { name: "Ada" }), create(server, "forms")];
    await until(() => held === 2 || undefined);
    const stopped = server.stop();
    await until(() =>
      fetch(`${server.url}/healthz`).then(
        () => undefined,
        () => true,
      ),
    );
    latch.open();
    const replies = await Promise.all(writes);
    expect(replies.map(({ status }) => status)).toEqual([200, 201]);
    expect(replies[0]?.body.fields).toEqual({ name: "Ada" });
    await soon(stopped);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  },
);

it("[RUNNING-SHUTDOWN-STREAMS] live streams end, and do not hold the server up", async () => {
  const server = await startTestServer();
  await server.putIntake({ id: "forms" });
  const made = await created(server, "forms");
  const headers = { authorization: `Bearer ${server.adminKey}` };
  const streams = await Promise.all(
    [1, 2, 3].map(() => openStream(`${server.url}/submissions/${made.submissionId}/events`, headers)),
  );
  for (const stream of streams) await stream.take(1);
  await setFields(server, made.resumeToken, { name: "Ada" });
  await soon(server.stop());
  for (const stream of streams) expect((await stream.rest()).map(({ event }) => event)).toEqual(["field.updated"]);
});

it.each(["SIGTERM", "SIGINT"] as const)(
  "[RUNNING-SHUTDOWN-SIGNAL] %s ends it gracefully, and acknowledged writes are there",
  async (signal) => {
    const folder = tempFolder();
    const env = { FORMBRIDGE_DATA: folder.path, FORMBRIDGE_RATE_LIMIT: "off" };
    const post = async (server: ServerProcess, name: string): Promise<string> => {
      const response = await fetch(`${server.url}/intakes/contact/submissions`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": idempotencyKey(name) },
        body: JSON.stringify({ actor: AGENT }),
      });
      return ((await response.json()) as { submissionId: string }).submissionId;
    };
    const first = await startServerProcess(env);
    const names = Array.from({ length: 20 }, (_, index) => `signal-${index}`);
    const ids = await Promise.all(names.map((name) => post(first, name)));
    const ended = await first.stop(signal);
    expect(ended.code).toBe(0);
    const second = await startServerProcess(env);
    expect(await Promise.all(names.map((name) => post(second, name)))).toEqual(ids);
    await second.kill();
    folder.remove();
  },
);
