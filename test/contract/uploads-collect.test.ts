import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  DAY,
  eventTypes,
  expectError,
  filled,
  HOUR,
  MINUTE,
  record,
  submit,
} from "../support/submissions.ts";
import { announced, confirm, FILES_SCHEMA, filesAtRest, PDF, PNG, send, walk } from "../support/uploads.ts";

let server: TestServer;
let key: string;
beforeEach(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_WORKER: "on" } });
  key = await server.makeKey({ roles: ["agent"], actor: AGENT });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterEach(() => server.stop());

const pdf = { field: "pdf", bytes: PDF };
const runJobs = async () => await server.server.worker.jobs?.drain();
/** Moves the clock, and runs what has become due. */
async function after(ms: number): Promise<void> {
  server.clock.advance(ms);
  await server.server.core.operations.sweep();
  await runJobs();
}
const stages = (uploadId: string): string[] =>
  filesAtRest(server).flatMap((name) => (name.includes(uploadId) ? [name.split(".").at(-1) ?? ""] : []));

it("[UPLOADS-COLLECTED] a file that was never confirmed is removed a grace period after its URL's expiry", async () => {
  const made = await create(server, "files", { key });
  const signed = await announced(server, made.resumeToken, pdf);
  await send(signed, PDF);
  await after(HOUR + DAY - MINUTE);
  expect(stages(signed.uploadId)).toEqual(["whole"]);
  await after(2 * MINUTE);
  expect(stages(signed.uploadId)).toEqual([]);
  expect((await eventTypes(server, made.submissionId)).at(-1)).toBe("upload.collected");
  expectError(await confirm(server, signed.resumeToken, signed.uploadId), 404, "not_found");
  expect((await record(server, made.submissionId)).version).toBe(signed.version);
});

it("[UPLOADS-COLLECTED] until then it can be confirmed, and then it stays", async () => {
  const made = await create(server, "files", { key });
  const signed = await announced(server, made.resumeToken, pdf);
  await send(signed, PDF);
  await after(HOUR + DAY - MINUTE);
  expect((await confirm(server, signed.resumeToken, signed.uploadId)).status).toBe(200);
  await after(3 * DAY);
  expect(stages(signed.uploadId)).toEqual(["kept"]);
});

it("[UPLOADS-COLLECTED] a file that was replaced is removed; its replacement stays", async () => {
  const first = await walk(server, pdf);
  const signed = await announced(server, first.token, pdf);
  await send(signed, PDF);
  expect((await confirm(server, signed.resumeToken, signed.uploadId)).status).toBe(200);
  await after(DAY - MINUTE);
  expect(stages(first.uploadId)).toEqual(["kept"]);
  await after(2 * MINUTE);
  expect(stages(first.uploadId)).toEqual([]);
  expect(stages(signed.uploadId)).toEqual(["kept"]);
});

it("[UPLOADS-COLLECTED] a file that was removed and attached again in time stays", async () => {
  const { token, uploadId } = await walk(server, pdf);
  const removed = await filled(server, token, { pdf: null });
  server.clock.advance(HOUR);
  await filled(server, removed.resumeToken, { pdf: { uploadId } });
  await after(2 * DAY);
  expect(stages(uploadId)).toEqual(["kept"]);
});

it("[UPLOADS-COLLECTED] the files of a cancelled or expired submission go after the grace period", async () => {
  const cancelled = await walk(server, pdf);
  await server.call("DELETE", `/resume/${cancelled.token}`, { body: { actor: AGENT } });
  const expired = await walk(server, pdf);
  await after(DAY - MINUTE);
  expect(stages(cancelled.uploadId)).toEqual(["kept"]);
  await after(2 * MINUTE);
  expect(stages(cancelled.uploadId)).toEqual([]);
  const path = `/submissions/${cancelled.submissionId}/uploads/${cancelled.uploadId}`;
  expectError(await server.call("GET", path, { key: server.adminKey }), 404, "not_found");
  await after(7 * DAY);
  expect(stages(expired.uploadId)).toEqual(["kept"]);
  expect((await record(server, expired.submissionId)).state).toBe("expired");
  await after(DAY + MINUTE);
  expect(stages(expired.uploadId)).toEqual([]);
});

it("[UPLOADS-COLLECTED] the files of a finalized submission stay", async () => {
  const { token, uploadId, submissionId } = await walk(server, pdf);
  const ready = await filled(server, token, { name: "Ada" });
  expect((await submit(server, ready.resumeToken)).status).toBe(200);
  await after(60 * DAY);
  expect(stages(uploadId)).toEqual(["kept"]);
  expect((await record(server, submissionId)).state).toBe("finalized");
});

it("[UPLOADS-COLLECTED] a file that was refused leaves neither bytes nor a job that stays", async () => {
  const { uploadId } = await walk(server, { field: "pdf", bytes: PNG });
  expect(stages(uploadId)).toEqual([]);
  await after(2 * DAY);
  expect(await server.server.core.backend.jobs.count()).toBe(0);
});

it("[UPLOADS-ORPHANS] files that no submission refers to are found and removed, and no others", async () => {
  // The storage reports the age of a file; here every file is old enough.
  await server.stop();
  server = await startTestServer({ env: { FORMBRIDGE_UPLOAD_GRACE_MS: "0", FORMBRIDGE_UPLOAD_TTL_MS: "1" } });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
  const kept = await walk(server, pdf);
  const folder = join(server.folder, "uploads");
  const lost = [
    "ZGVmYXVsdA.sub_0198-000000000001.upl_0198-0000000000ab.kept",
    "ZGVmYXVsdA.sub_0198-000000000001.upl_0198-0000000000ab.whole",
    `ZGVmYXVsdA.${kept.submissionId}.upl_0198-0000000000ac.part`,
  ];
  for (const name of lost) {
    const shard = join(folder, /([0-9a-f]{2})\.\w+$/.exec(name)?.[1] ?? "");
    mkdirSync(shard, { recursive: true });
    writeFileSync(join(shard, name), "x");
  }
  writeFileSync(join(folder, "ab", "not-ours.txt"), "x");
  await everyPage();
  expect(filesAtRest(server).toSorted()).toEqual([
    expect.stringMatching(new RegExp(`${kept.uploadId}.kept$`)),
    "not-ours.txt",
  ]);
});

async function everyPage(): Promise<void> {
  let next: string | undefined;
  do next = (await server.server.core.operations.sweepFiles(next)).next;
  while (next !== undefined);
}
