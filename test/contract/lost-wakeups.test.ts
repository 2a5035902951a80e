/** Notifications are hints. Here every one of them is lost, as when the committing process dies before it notifies. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, created, setFields } from "../support/moves.ts";
import { openStream } from "../support/sse.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_WATCH_POLL_MS: "20" } });
  server.server.core.wakeups.notify = () => {};
  await server.putIntake({ id: "forms" });
});
afterAll(() => server.stop());

it("[AUDIT-F8] [EVENTS-SSE-LIVE] a stream delivers an event whose notification was lost", async () => {
  const { resumeToken, submissionId } = await created(server, "forms");
  const stream = await openStream(`${server.url}/submissions/${submissionId}/events`, {
    authorization: `Bearer ${server.adminKey}`,
  });
  expect((await stream.take(1)).map(({ event }) => event)).toEqual(["submission.created"]);
  await setFields(server, resumeToken, { name: "Ada" });
  expect((await stream.take(1)).map(({ event }) => event)).toEqual(["field.updated"]);
  await stream.close();
});

it("[AUDIT-F8] a call that waits for a change ends with it, and records two reads however often it polled", async () => {
  const { resumeToken, submissionId } = await created(server, "forms");
  const { operations } = server.server.core;
  const waiting = Promise.withResolvers<void>();
  const gone = new AbortController();
  const change = operations.awaitChange({
    caller: { address: "127.0.0.1" },
    target: { submissionId, tokens: [resumeToken], versions: [] },
    waitMs: 20_000,
    signal: gone.signal,
    onWaiting: waiting.resolve,
  });
  await waiting.promise;
  const set = await setFields(server, resumeToken, { name: "Ada" }, { body: { actor: AGENT } });
  const { changed, body } = await change;
  expect([changed, body.version]).toEqual([true, set.body.version]);
  await operations.flushAudit();
  const { body: page } = await server.call("GET", `/submissions/${submissionId}/events?types=token.accessed`, {
    key: server.adminKey,
  });
  const reads = page.events.map(({ payload }: { payload: { count?: number } }) => payload.count ?? 1);
  expect(reads.reduce((sum: number, count: number) => sum + count, 0)).toBe(2);
});

it("[EVENTS-SSE-LIVE] a notification is enough: nobody waits for the next poll", async () => {
  const patient = await startTestServer({ env: { FORMBRIDGE_WATCH_POLL_MS: "3600000" } });
  await patient.putIntake({ id: "forms" });
  const { resumeToken, submissionId } = await created(patient, "forms");
  const stream = await openStream(`${patient.url}/submissions/${submissionId}/events`, {
    authorization: `Bearer ${patient.adminKey}`,
  });
  await stream.take(1);
  await setFields(patient, resumeToken, { name: "Ada" });
  expect((await stream.take(1)).map(({ event }) => event)).toEqual(["field.updated"]);
  await stream.close();
  await patient.stop();
});
