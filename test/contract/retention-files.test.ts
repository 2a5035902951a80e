import { describe, expect, it, onTestFinished } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { drain, JOBS_BY_HAND } from "../support/reviews.ts";
import { AGENT, DAY, submit } from "../support/submissions.ts";
import { announced, confirm, FILES_SCHEMA, filesAtRest, PDF, PNG, send, walk } from "../support/uploads.ts";

let server: TestServer;
async function start(env: Record<string, string> = {}): Promise<void> {
  server = await startTestServer({ env });
  onTestFinished(server.stop);
  await server.putIntake({ id: "files", schema: FILES_SCHEMA, retention: { deleteAfterMs: 30 * DAY } });
}

/** A submission with a confirmed file, and one that was sent but never confirmed; another submission's file is stored beside them. */
async function withFiles() {
  const other = await walk(server, { field: "pdf", bytes: PDF });
  const own = await walk(server, { field: "pdf", bytes: PDF });
  const open = await announced(server, own.token, { field: "image", bytes: PNG, mimeType: "image/png" });
  await send(open, PNG);
  const { url } = (await server.call("GET", `/resume/${open.resumeToken}/uploads/${own.uploadId}`)).body;
  expect((await fetch(url)).status).toBe(200);
  return { other, own, open, url, token: open.resumeToken as string };
}
/** The uploads of which something is stored. */
const idsAtRest = (): string[] =>
  [...new Set(filesAtRest(server).flatMap((name) => /upl_[\w-]+/.exec(name)?.[0] ?? []))].sort();
const cancel = (token: string) => server.call("DELETE", `/resume/${token}`, { body: { actor: AGENT } });
const erase = (id: string) => server.call("POST", `/submissions/${id}/erase`, { key: server.adminKey, body: {} });

describe.each(["the sweep", "a request"])("erased by %s", (by) => {
  it("[RETENTION-FILES] no file of the submission is left, and every other one is", async () => {
    await start();
    const { other, own, open, url, token } = await withFiles();
    expect(idsAtRest()).toEqual([other.uploadId, own.uploadId, open.uploadId].sort());
    await cancel(token);
    if (by === "a request") expect((await erase(own.submissionId)).status).toBe(200);
    else {
      server.clock.advance(30 * DAY + 1);
      expect((await server.server.core.operations.sweep()).erased).toBe(1);
    }
    expect(idsAtRest()).toEqual([other.uploadId]);
    expect([404, 410]).toContain((await fetch(url)).status);
    expect([403, 404, 410]).toContain((await send(open, PNG)).status);
    expect(idsAtRest()).toEqual([other.uploadId]);
  });
});

it("[RETENTION-FILES] files of a finalized submission are removed with it, and the job to collect one finds nothing to do", async () => {
  await start(JOBS_BY_HAND);
  const replaced = await walk(server, { field: "pdf", bytes: PDF });
  const next = await announced(server, replaced.token, { field: "pdf", bytes: PDF });
  await send(next, PDF);
  const { resumeToken } = (await confirm(server, next.resumeToken, next.uploadId)).body;
  expect((await submit(server, resumeToken)).body.state).toBe("finalized");
  expect(idsAtRest()).toEqual([replaced.uploadId, next.uploadId].sort());
  expect(await server.server.core.backend.jobs.count()).toBe(1);
  await erase(replaced.submissionId);
  expect(idsAtRest()).toEqual([]);
  server.clock.advance(3 * DAY);
  await drain(server);
  expect(await server.server.core.backend.jobs.count()).toBe(0);
});
