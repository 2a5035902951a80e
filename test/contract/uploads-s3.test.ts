import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { startS3, type TestS3 } from "../support/s3.ts";
import { create, expectError } from "../support/submissions.ts";
import { announce, announced, confirm, digestOf, FILES_SCHEMA, PDF, PNG, send } from "../support/uploads.ts";

let s3: TestS3;
let server: TestServer;
beforeAll(async () => {
  s3 = await startS3();
  server = await startTestServer({
    env: {
      FORMBRIDGE_S3_ENDPOINT: s3.endpoint,
      FORMBRIDGE_S3_BUCKET: s3.bucket,
      FORMBRIDGE_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      FORMBRIDGE_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      FORMBRIDGE_S3_FORCE_PATH_STYLE: "1",
    },
  });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(async () => {
  await server.stop();
  await s3.stop();
});

async function waiting(bytes: Buffer, mimeType = "application/pdf", field = "pdf"): Promise<Loose> {
  const { resumeToken } = await create(server, "files");
  return await announced(server, resumeToken, { field, bytes, mimeType });
}

it("[UPLOADS-WALK] with a bucket, a file goes straight to it and comes straight from it", async () => {
  const signed = await waiting(PDF);
  expect(signed.url.startsWith(s3.endpoint)).toBe(true);
  expectError(await confirm(server, signed.resumeToken, signed.uploadId), 422, "upload_pending");
  expect((await send(signed, PDF)).status).toBe(200);
  const reply = await confirm(server, signed.resumeToken, signed.uploadId);
  expect(reply.body.fields.pdf).toMatchObject({ sizeBytes: PDF.length, sha256: digestOf(PDF) });
  const { url, filename } = (await server.call("GET", `/resume/${reply.body.resumeToken}/uploads/${signed.uploadId}`))
    .body;
  const response = await fetch(url);
  expect(digestOf(Buffer.from(await response.arrayBuffer()))).toBe(digestOf(PDF));
  expect(filename).toBe("a.pdf");
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="a.pdf"/);
});

it("[UPLOADS-CONFIRM-CHECKS] with a bucket, a file of another type is refused and removed", async () => {
  const signed = await waiting(PNG);
  await send(signed, PNG);
  expectError(await confirm(server, signed.resumeToken, signed.uploadId), 422, "invalid");
  expectError(await confirm(server, signed.resumeToken, signed.uploadId), 404, "not_found");
});

it("[UPLOADS-SEALED] with a bucket, what is sent after the confirm changes nothing", async () => {
  const other = Buffer.from(PDF.toString().replace("1.7", "6.6"));
  const signed = await waiting(PDF);
  await send(signed, PDF);
  const reply = await confirm(server, signed.resumeToken, signed.uploadId);
  expect((await send(signed, other)).status).toBe(200);
  const { url } = (await server.call("GET", `/resume/${reply.body.resumeToken}/uploads/${signed.uploadId}`)).body;
  expect(digestOf(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(digestOf(PDF));
});

it("[UPLOADS-PARTS] with a bucket, a file may go in parts", async () => {
  const bytes = Buffer.alloc(17_000_000, "formbridge\n");
  const signed = await waiting(bytes, "text/plain", "any");
  expect(signed.resumable.protocol).toBe("s3-multipart");
  const path = signed.resumable.url.slice(server.url.length);
  const asked = (await server.call("POST", path, { body: {} })).body;
  expect(asked).toMatchObject({ ok: true, complete: false, uploadId: signed.uploadId });
  const etags: string[] = [];
  for (const { url, partNumber, sizeBytes } of asked.parts) {
    const from = (partNumber - 1) * asked.partBytes;
    const body = new Uint8Array(bytes.subarray(from, from + sizeBytes));
    const response = await fetch(url, { method: "PUT", body });
    expect(response.status).toBe(200);
    etags.push(response.headers.get("etag") ?? "");
  }
  const { multipartId } = asked;
  expectError(await server.call("POST", path, { body: { multipartId, etags: etags.slice(1) } }), 400, "bad_request");
  expect((await server.call("POST", path, { body: { multipartId, etags } })).body.complete).toBe(true);
  const reply = await confirm(server, signed.resumeToken, signed.uploadId);
  expect(reply.body.fields.any).toMatchObject({ sizeBytes: bytes.length, sha256: digestOf(bytes) });
  expectError(await server.call("POST", path.replace(/grant=.*/, "grant=x"), { body: {} }), 403, "forbidden");
});

it("[UPLOADS-EXACT] a file that is larger than a bucket takes is refused when it is announced", async () => {
  const { resumeToken } = await create(server, "files");
  const reply = await announce(server, resumeToken, { field: "huge", bytes: PDF, sizeBytes: 6 * 1024 ** 3 });
  expect(expectError(reply, 422, "invalid").fields).toMatchObject([{ code: "file_too_large" }]);
});
