import { afterEach, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { drain, JOBS_BY_HAND } from "../support/reviews.ts";
import { AGENT, create, DAY, eventTypes, expectError, HOUR, MINUTE, record, SECOND } from "../support/submissions.ts";
import { announce, announced, confirm, FILES_SCHEMA, filesAtRest, PDF, send, sizeAtRest } from "../support/uploads.ts";

let server: TestServer;
afterEach(() => server.stop());

async function start(env: Record<string, string>, store?: "sqlite"): Promise<void> {
  server = await startTestServer({ env: { ...JOBS_BY_HAND, ...env }, ...(store && { store }) });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
}

/** Announces this many bytes in a new submission. */
async function announceNew(sizeBytes: number, key?: string): Promise<Reply> {
  const made = await create(server, "files", key === undefined ? {} : { key });
  return await announce(server, made.resumeToken, { field: "any", bytes: PDF, sizeBytes });
}

const agentKey = () => server.makeKey({ roles: ["agent"], actor: AGENT });

it("[AUDIT-F36] the files of one submission have a total limit, pending ones included", async () => {
  await start({ FORMBRIDGE_UPLOAD_QUOTA_SUBMISSION_BYTES: String(2 * PDF.length + 10) });
  const made = await create(server, "files");
  const first = await announced(server, made.resumeToken, { field: "pdf", bytes: PDF });
  await send(first, PDF);
  const done = await confirm(server, first.resumeToken, first.uploadId);
  const second = await announced(server, done.body.resumeToken, { field: "any", bytes: PDF });
  const third = await announce(server, second.resumeToken, { field: "text", bytes: PDF, mimeType: "text/plain" });
  const error = expectError(third, 422, "invalid");
  expect(error.fields).toMatchObject([{ path: "text", code: "file_too_large", expected: 10 }]);
  expect(error.nextActions).toMatchObject([{ action: "request_upload" }, { uploadId: second.uploadId }]);
  const again = await announced(server, second.resumeToken, { field: "any", bytes: PDF });
  const path = `/resume/${again.resumeToken}/uploads/${again.uploadId}`;
  const freed = await server.call("DELETE", path, { body: { actor: AGENT } });
  await announced(server, freed.body.resumeToken, { field: "text", bytes: PDF, mimeType: "text/plain" });
});

it("[AUDIT-F36] an address without a key has a daily limit, over all submissions", async () => {
  await start({ FORMBRIDGE_UPLOAD_QUOTA_ADDRESS_BYTES: "1000" });
  expect((await announceNew(600)).status).toBe(200);
  const refused = await announceNew(600);
  const error = expectError(refused, 429, "rate_limited");
  expect(error.retryAfterMs).toBeGreaterThan(0);
  expect(refused.headers["retry-after"]).toBeDefined();
  expect(error.nextActions).toMatchObject([{ action: "request_upload", field: "any" }]);
  expect(refused.body).toMatchObject({ state: "draft" });
  expect((await announceNew(400)).status).toBe(200);
  expect((await announceNew(5000, await agentKey())).status).toBe(200);
  server.clock.advance(DAY + SECOND);
  expect((await announceNew(600)).status).toBe(200);
});

it("[AUDIT-F36] the files of an intake have a total limit; removed ones make room again", async () => {
  await start({ FORMBRIDGE_UPLOAD_QUOTA_INTAKE_BYTES: "1000" });
  const key = await agentKey();
  const first = (await announceNew(600, key)).body;
  const error = expectError(await announceNew(600, key), 503, "service_unavailable");
  expect(error.nextActions).toMatchObject([{ action: "request_upload" }]);
  expect((await announceNew(400, key)).status).toBe(200);
  await server.putIntake({ id: "others", schema: FILES_SCHEMA });
  const other = await create(server, "others");
  await announced(server, other.resumeToken, { field: "any", bytes: PDF, sizeBytes: 900 });
  const path = `/resume/${first.resumeToken}/uploads/${first.uploadId}`;
  expect((await server.call("DELETE", path, { body: { actor: AGENT } })).status).toBe(200);
  server.clock.advance(MINUTE);
  expect((await announceNew(600, key)).status).toBe(200);
});

it("[AUDIT-F36] announcing a file again uses the quota of an intake once", async () => {
  await start({ FORMBRIDGE_UPLOAD_QUOTA_INTAKE_BYTES: "1000" });
  let { resumeToken } = await create(server, "files");
  for (let round = 0; round < 10; round++) {
    const signed: Loose = await announced(server, resumeToken, { field: "any", bytes: PDF, sizeBytes: 900 });
    resumeToken = signed.resumeToken;
  }
});

it("[AUDIT-F36] an intake's quota is counted from what is stored, so a restart forgets nothing", async () => {
  await start({}, "sqlite");
  expect((await announceNew(600)).status).toBe(200);
  const first = server;
  await first.server.stop();
  const env = { FORMBRIDGE_DATA: first.folder, FORMBRIDGE_UPLOAD_QUOTA_INTAKE_BYTES: "1000" };
  server = await startTestServer({ env, store: "sqlite" });
  expectError(await announceNew(600), 503, "service_unavailable");
  expect((await announceNew(400)).status).toBe(200);
  await server.stop();
  server = first;
});

it("[AUDIT-F36] a disk with only its reserve left accepts no announcement, and the error says so", async () => {
  await start({ FORMBRIDGE_UPLOAD_DISK_RESERVE_BYTES: String(Number.MAX_SAFE_INTEGER) });
  const refused = await announceNew(10);
  const error = expectError(refused, 503, "service_unavailable");
  expect(error).toMatchObject({ reason: "storage_full", retryable: true, nextActions: [{ field: "any" }] });
  const made = await create(server, "files");
  expect((await record(server, made.submissionId)).pendingUploads).toBeUndefined();
});

/** Announces a file and sends a part of it. */
async function partOf(key?: string): Promise<{ submissionId: string; uploadId: string }> {
  const { submissionId, resumeToken } = await create(server, "files", key === undefined ? {} : { key });
  const signed = await announced(server, resumeToken, { field: "pdf", bytes: PDF });
  const headers = {
    "tus-resumable": "1.0.0",
    "upload-offset": "0",
    "content-type": "application/offset+octet-stream",
  };
  const path = signed.resumable.url.slice(server.url.length);
  const reply = await server.call("PATCH", path, { raw: PDF.subarray(0, 20), headers });
  expect(reply.status).toBe(204);
  return { submissionId, uploadId: signed.uploadId };
}

it("[AUDIT-F36] partial files without a key are removed with their URL, others stay for the grace period", async () => {
  await start({});
  const stranger = await partOf();
  const known = await partOf(await agentKey());
  expect(filesAtRest(server)).toHaveLength(2);
  server.clock.advance(HOUR + 30 * SECOND);
  await drain(server);
  expect([sizeAtRest(server, stranger.uploadId), sizeAtRest(server, known.uploadId)]).toEqual([0, 20]);
  expect((await eventTypes(server, stranger.submissionId)).at(-1)).toBe("upload.collected");
  expect((await record(server, stranger.submissionId)).state).toBe("in_progress");
  server.clock.advance(DAY);
  await drain(server);
  expect(filesAtRest(server)).toEqual([]);
});
