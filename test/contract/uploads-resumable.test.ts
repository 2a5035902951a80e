import { randomBytes } from "node:crypto";
import { readdirSync, renameSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Upload } from "tus-js-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { create, expectError } from "../support/submissions.ts";
import { announced, confirm, digestOf, FILES_SCHEMA, filesAtRest, send, sizeAtRest } from "../support/uploads.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(() => server.stop());

const BYTES = Buffer.concat([Buffer.from("\x00odd"), randomBytes(600_000)]);
const file = { field: "any", bytes: BYTES, mimeType: "application/octet-stream" };

async function waiting(sent = file): Promise<Loose> {
  const made = await create(server, "files");
  return await announced(server, made.resumeToken, sent);
}

const TUS = { "tus-resumable": "1.0.0" };
const pathOf = (signed: Loose): string => signed.resumable.url.slice(server.url.length);
const head = (signed: Loose): Promise<Reply> => server.call("HEAD", pathOf(signed), { headers: TUS });
const patch = (signed: Loose, offset: number, bytes: Buffer, headers: Record<string, string> = {}): Promise<Reply> =>
  server.call("PATCH", pathOf(signed), {
    raw: bytes,
    headers: { ...TUS, "content-type": "application/offset+octet-stream", "upload-offset": String(offset), ...headers },
  });

/** A PATCH that announces the rest of the file and disconnects in the middle. */
async function breakOff(signed: Loose, offset: number, part: Buffer): Promise<void> {
  const { hostname, port, pathname, search } = new URL(signed.resumable.url);
  const socket = connect(Number(port), hostname);
  const headers = [
    `PATCH ${pathname}${search} HTTP/1.1`,
    "Host: x",
    "Tus-Resumable: 1.0.0",
    "Content-Type: application/offset+octet-stream",
    `Upload-Offset: ${offset}`,
    `Content-Length: ${BYTES.length - offset}`,
    "",
    "",
  ];
  socket.write(headers.join("\r\n"));
  socket.write(part);
  const stage = (end: string) =>
    filesAtRest(server).some((name) => name.includes(signed.uploadId) && name.endsWith(end));
  await until(() => sizeAtRest(server, signed.uploadId) >= 100_000);
  socket.destroy();
  await until(() => stage(".part"));
}

it("[UPLOADS-RESUME] an interrupted upload continues where it stopped, over HTTP, with a tus client", async () => {
  const signed = await waiting();
  expect(signed.resumable.protocol).toBe("tus");
  await breakOff(signed, 0, BYTES.subarray(0, 200_000));
  const there = await head(signed);
  const offset = Number(there.headers["upload-offset"]);
  expect(there).toMatchObject({ status: 200, headers: { "upload-length": String(BYTES.length), ...TUS } });
  expect(offset).toBeGreaterThan(0);
  expect(offset).toBeLessThanOrEqual(200_000);
  const asked: (string | undefined)[] = [];
  await new Promise<void>((resolve, reject) => {
    new Upload(BYTES, {
      uploadUrl: signed.resumable.url,
      chunkSize: 150_000,
      onBeforeRequest: (request) => {
        asked.push(request.getMethod() === "PATCH" ? request.getHeader("Upload-Offset") : request.getMethod());
      },
      onError: reject,
      onSuccess: () => resolve(),
    }).start();
  });
  expect(asked.slice(0, 2)).toEqual(["HEAD", String(offset)]);
  const reply = await confirm(server, signed.resumeToken, signed.uploadId);
  expect(reply.body.fields.any).toMatchObject({ sizeBytes: BYTES.length, sha256: digestOf(BYTES) });
});

it("[UPLOADS-RESUME] a file whose last byte arrived is complete, whatever happens to the connection or the server afterwards", async () => {
  const cut = await waiting();
  const { hostname, port, pathname, search } = new URL(cut.resumable.url);
  const socket = connect(Number(port), hostname);
  const type = "Content-Type: application/offset+octet-stream";
  const headers = ["Host: x", "Tus-Resumable: 1.0.0", type, "Upload-Offset: 0", "Transfer-Encoding: chunked"];
  socket.write([`PATCH ${pathname}${search} HTTP/1.1`, ...headers, "", BYTES.length.toString(16), ""].join("\r\n"));
  socket.write(BYTES);
  await until(() => sizeAtRest(server, cut.uploadId) === BYTES.length);
  // The body never ends.
  socket.destroy();
  await until(() => filesAtRest(server).some((name) => name.includes(cut.uploadId) && !name.endsWith(".busy")));
  expect((await head(cut)).headers["upload-offset"]).toBe(String(BYTES.length));
  expect((await confirm(server, cut.resumeToken, cut.uploadId)).body.fields.any.sha256).toBe(digestOf(BYTES));

  const killed = await waiting();
  await patch(killed, 0, BYTES);
  const folder = join(server.folder, "uploads");
  const whole = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((at) => at.includes(killed.uploadId));
  // As left by a server that died after writing the last byte.
  renameSync(join(folder, whole ?? ""), join(folder, whole?.replace(".whole", ".part") ?? ""));
  expect((await head(killed)).headers["upload-offset"]).toBe(String(BYTES.length));
  expect((await confirm(server, killed.resumeToken, killed.uploadId)).status).toBe(200);
});

it("[UPLOADS-RESUME-BOUND] nothing can follow the last byte, and an attempt leaves nothing behind", async () => {
  const signed = await waiting();
  const ours = () => filesAtRest(server).filter((name) => name.includes(signed.uploadId));
  const post = { ...TUS, "upload-length": String(BYTES.length), "content-type": "application/offset+octet-stream" };
  const made = await server.call("POST", pathOf(signed), { raw: BYTES.subarray(0, 10), headers: post });
  expect(made.headers["upload-offset"]).toBeUndefined();
  expect(ours()).toEqual([]);
  await patch(signed, 0, BYTES);
  expect((await patch(signed, BYTES.length, Buffer.alloc(0))).headers["upload-offset"]).toBe(String(BYTES.length));
  expectError(await patch(signed, BYTES.length, BYTES.subarray(0, 1)), 413, "payload_too_large");
  expectError(await patch(signed, 0, BYTES.subarray(0, 1)), 409, "conflict");
  expect(ours()).toHaveLength(1);
});

it("[UPLOADS-RESUME] a client that creates its upload is given the one that was announced", async () => {
  const signed = await waiting();
  await new Promise<void>((resolve, reject) => {
    new Upload(BYTES, { endpoint: signed.resumable.url, onError: reject, onSuccess: () => resolve() }).start();
  });
  expect((await confirm(server, signed.resumeToken, signed.uploadId)).status).toBe(200);
  const other = await waiting();
  const made = await server.call("POST", pathOf(other), { headers: { ...TUS, "upload-length": "7" } });
  expectError(made, 400, "bad_request");
});

it("[UPLOADS-RESUME-BOUND] pieces continue after the last byte, and never beyond the announced size", async () => {
  const signed = await waiting();
  expect((await patch(signed, 0, BYTES.subarray(0, 1000))).headers["upload-offset"]).toBe("1000");
  expectError(await patch(signed, 999, BYTES.subarray(999, 2000)), 409, "conflict");
  expectError(
    await patch(signed, 1000, Buffer.concat([BYTES.subarray(1000), BYTES.subarray(0, 1)])),
    413,
    "payload_too_large",
  );
  expectError(await patch(signed, 1000, BYTES.subarray(1000), { "content-type": "text/plain" }), 400, "bad_request");
  expectError(await confirm(server, signed.resumeToken, signed.uploadId), 422, "upload_pending");
  expect((await head(signed)).headers["upload-offset"]).toBe("1000");
  expect((await patch(signed, 1000, BYTES.subarray(1000))).status).toBe(204);
  const reply = await confirm(server, signed.resumeToken, signed.uploadId);
  expect(reply.body.fields.any.sha256).toBe(digestOf(BYTES));
  expectError(await patch(signed, 0, BYTES.subarray(0, 10)), 409, "conflict");
});

it("[UPLOADS-RESUME-BOUND] its URL is signed, and works for nothing else", async () => {
  const [signed, other] = [await waiting(), await waiting()];
  const swapped = {
    ...signed,
    resumable: { url: `${other.resumable.url.split("?")[0]}?${signed.resumable.url.split("?")[1]}` },
  };
  expect((await head(swapped)).status).toBe(403);
  expectError(await patch(swapped, 0, BYTES), 403, "forbidden");
  expectError(await patch({ resumable: { url: signed.resumable.url.split("?")[0] } }, 0, BYTES), 403, "forbidden");
  expect((await head({ resumable: { url: `${signed.url.replace("?", "/resumable?")}` } })).status).toBe(403);
});

it("[UPLOADS-RESUME] the whole file at once replaces pieces, and a refused one leaves none", async () => {
  const signed = await waiting();
  await patch(signed, 0, Buffer.alloc(1000, "x"));
  expect((await send(signed, BYTES)).status).toBe(200);
  const reply = await confirm(server, signed.resumeToken, signed.uploadId);
  expect(reply.body.fields.any.sha256).toBe(digestOf(BYTES));
  expect(filesAtRest(server).filter((name) => name.includes(signed.uploadId))).toHaveLength(1);
});
