import { once } from "node:events";
import { readdirSync, readlinkSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { create, expectError, filled, history, MINUTE, record, SECOND, setFields } from "../support/submissions.ts";
import { announced, confirm, digestOf, FILES_SCHEMA, PDF, PNG, send, walk } from "../support/uploads.ts";

let server: TestServer;
let viewer: string;
let stranger: string;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
  viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" } });
  stranger = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "stranger" } });
});
afterAll(() => server.stop());

const png = { field: "image", bytes: PNG, mimeType: "image/png", filename: "Größe „A“.png" };
const download = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

/** How many files this process, which runs the server, has open. */
const openFiles = (uploadId: string): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).includes(uploadId);
    } catch {
      return false;
    }
  }).length;

describe("a confirmed file", () => {
  it("[UPLOADS-DOWNLOAD] is available by a short-lived URL to callers who may read the submission", async () => {
    const { token, submissionId, uploadId } = await walk(server, png);
    const ways = [
      await server.call("GET", `/resume/${token}/uploads/${uploadId}`),
      await server.call("GET", `/submissions/${submissionId}/uploads/${uploadId}`, { key: server.adminKey }),
      await server.call("GET", `/submissions/${submissionId}/uploads/${uploadId}`, { key: viewer }),
    ];
    for (const { status, body } of ways) {
      expect(status).toBe(200);
      expect(body).toMatchObject({
        ok: true,
        submissionId,
        uploadId,
        filename: "Größe „A“.png",
        mimeType: "image/png",
      });
      expect(body).toMatchObject({ sizeBytes: PNG.length, sha256: digestOf(PNG) });
      expect(Date.parse(body.expiresAt)).toBe(server.clock.now() + 5 * MINUTE);
      expect((await download(body.url)).bytes).toEqual(PNG);
    }
    expect(JSON.stringify(ways[2]?.body)).not.toContain("rtok_");
  });

  it("[UPLOADS-DOWNLOAD] is not available to others, nor before it is confirmed, nor under another submission", async () => {
    const { submissionId, uploadId } = await walk(server, png);
    const path = `/submissions/${submissionId}/uploads/${uploadId}`;
    expectError(await server.call("GET", path), 401, "unauthorized");
    expectError(await server.call("GET", path, { key: stranger }), 404, "not_found");
    const made = await create(server, "files");
    const signed = await announced(server, made.resumeToken, png);
    await send(signed, PNG);
    for (const id of [signed.uploadId, uploadId, "upl_1"]) {
      expectError(await server.call("GET", `/resume/${signed.resumeToken}/uploads/${id}`), 404, "not_found");
    }
  });

  it("[UPLOADS-DOWNLOAD] is available only until its URL expires", async () => {
    const { token, uploadId } = await walk(server, png);
    const { url } = (await server.call("GET", `/resume/${token}/uploads/${uploadId}`)).body;
    server.clock.advance(5 * MINUTE + 31 * SECOND);
    expect((await download(url)).response.status).toBe(410);
    const forged = await download(`${url.slice(0, -2)}AA`);
    expect(forged.response.status).toBe(403);
  });

  it("[UPLOADS-SAVED-ONLY] is served as a download, under a safe name, and nothing else", async () => {
    const { token, uploadId } = await walk(server, png);
    const { url } = (await server.call("GET", `/resume/${token}/uploads/${uploadId}`)).body;
    const { response } = await download(url);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": `attachment; filename="Gr__e _A_.png"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%E2%80%9EA%E2%80%9C.png`,
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("sandbox"),
      "cache-control": "no-store",
      "content-length": String(PNG.length),
    });
    const head = await fetch(url, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe(String(PNG.length));
  });

  it("[UPLOADS-RANGE] is available in parts, too", async () => {
    const { token, uploadId } = await walk(server, png);
    const { url } = (await server.call("GET", `/resume/${token}/uploads/${uploadId}`)).body;
    const ranges: [string, number, Buffer][] = [
      ["bytes=0-3", 206, PNG.subarray(0, 4)],
      ["bytes=10-", 206, PNG.subarray(10)],
      ["bytes=-5", 206, PNG.subarray(-5)],
      ["bytes=5-1000000", 206, PNG.subarray(5)],
      ["bytes=5-2", 200, PNG],
      ["bytes=0-1,3-4", 200, PNG],
      ["bytes=-", 200, PNG],
      ["lines=1-2", 200, PNG],
    ];
    for (const [range, status, bytes] of ranges) {
      const part = await download(url, { range });
      expect({ range, status: part.response.status, bytes: part.bytes }).toEqual({ range, status, bytes });
    }
    const first = await download(url, { range: "bytes=0-3" });
    expect(first.response.headers.get("content-range")).toBe(`bytes 0-3/${PNG.length}`);
    const etag = first.response.headers.get("etag") ?? "";
    const parts = [etag, '"another"'].map((known) => download(url, { range: "bytes=0-3", "if-range": known }));
    expect((await Promise.all(parts)).map(({ response }) => response.status)).toEqual([206, 200]);
  });

  it("[AUDIT-F38] [UPLOADS-RANGE] a range beyond its end is a 416 with its size", async () => {
    const { token, uploadId } = await walk(server, png);
    const { url } = (await server.call("GET", `/resume/${token}/uploads/${uploadId}`)).body;
    for (const range of ["bytes=9999-", `bytes=${PNG.length}-`, "bytes=-0"]) {
      const { response, bytes } = await download(url, { range });
      expect({ range, status: response.status }).toEqual({ range, status: 416 });
      expect(response.headers.get("content-range")).toBe(`bytes */${PNG.length}`);
      expect(JSON.parse(bytes.toString())).toMatchObject({ ok: false, error: { type: "range_not_satisfiable" } });
    }
  });

  it("[UPLOADS-DOWNLOAD] is not held open for clients that have disconnected", async () => {
    const bytes = Buffer.alloc(2_000_000, "formbridge\n");
    const { token, uploadId } = await walk(server, { field: "any", bytes, mimeType: "text/plain" });
    const { url } = (await server.call("GET", `/resume/${token}/uploads/${uploadId}`)).body;
    const { hostname, port, pathname, search } = new URL(url);
    // Anything left open is closed eventually, with a warning.
    const warnings: string[] = [];
    const note = ({ message }: Error) => void warnings.push(message);
    process.on("warning", note);
    for (let round = 0; round < 100; round++) {
      const socket = connect(Number(port), hostname).on("error", () => {});
      await once(socket, "connect");
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
      // Disconnects a little later each time: before the response, while it is prepared, while it arrives.
      for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve));
      socket.resetAndDestroy();
    }
    await until(() => openFiles(uploadId) === 0);
    process.off("warning", note);
    expect(warnings.filter((words) => words.includes("garbage collection"))).toEqual([]);
  });

  it("[UPLOADS-SAVED-ONLY] is no attachment, nor a part of one, when it can't be read", async () => {
    const { token, uploadId } = await walk(server, png);
    const { url } = (await server.call("GET", `/resume/${token}/uploads/${uploadId}`)).body;
    const places = readdirSync(join(server.folder, "uploads"), { recursive: true, encoding: "utf8" });
    const place = places.find((name) => name.includes(uploadId));
    unlinkSync(join(server.folder, "uploads", place ?? ""));
    const { response, bytes } = await download(url, { range: "bytes=0-3" });
    expect(response.status).toBe(500);
    expect(JSON.parse(bytes.toString()).error.type).toBe("internal_error");
    for (const name of ["content-disposition", "content-range", "etag"]) expect(response.headers.get(name)).toBeNull();
  });
});

describe("a file of a sensitive field", () => {
  it("[UPLOADS-SENSITIVE] is not available to callers who see its value masked, nor named in events", async () => {
    const secret = { field: "secret", bytes: PDF, filename: "diagnosis.pdf" };
    const { token, uploadId, submissionId } = await walk(server, secret);
    expect((await server.call("GET", `/resume/${token}`)).body.fields.secret).toEqual({ masked: true });
    expectError(await server.call("GET", `/resume/${token}/uploads/${uploadId}`), 403, "forbidden");
    const key = server.adminKey;
    expect((await server.call("GET", `/submissions/${submissionId}/uploads/${uploadId}`, { key })).status).toBe(200);
    const told = JSON.stringify(await history(server, submissionId));
    expect(told).not.toContain("diagnosis");
    expect(told).not.toContain(digestOf(PDF));
  });

  it("[UPLOADS-SENSITIVE] [FIELDS-SENSITIVE-SEALED] has its name and digest stored nowhere in clear", async () => {
    const bytes = Buffer.from("%PDF-1.7 a sensitive file\n%%EOF\n");
    const secret = { field: "secret", bytes, filename: "prognosis.pdf", sha256: digestOf(bytes) };
    const { token, uploadId } = await walk(server, secret);
    const pending = await announced(server, token, { ...secret, filename: "anamnesis.pdf" });
    const rest = await server.atRest();
    for (const text of ["prognosis", "anamnesis", digestOf(bytes)]) expect(rest).not.toContain(text);
    const late = (await server.call("GET", `/resume/${token}`)).body.pendingUploads;
    expect(late).toMatchObject([{ uploadId: pending.uploadId, filename: "[sensitive]" }]);
    const key = server.adminKey;
    const own = await server.call("GET", `/resume/${pending.resumeToken}`, { key });
    expect(own.body.pendingUploads).toMatchObject([{ filename: "anamnesis.pdf" }]);
    const given = (await server.call("GET", `/resume/${pending.resumeToken}/uploads/${uploadId}`, { key })).body;
    expect(given).toMatchObject({ filename: "prognosis.pdf", sha256: digestOf(bytes) });
    const { response } = await download(given.url);
    expect(response.headers.get("content-disposition")).toContain("prognosis.pdf");
    expect(response.headers.get("etag")).toContain(digestOf(bytes));
    await send(pending, bytes);
    const confirmed = await confirm(server, pending.resumeToken, pending.uploadId);
    expect(confirmed.body.fields.secret).toEqual({ masked: true });
    const { fields } = await record(server, pending.submissionId);
    expect(fields.secret).toMatchObject({ filename: "anamnesis.pdf", sha256: digestOf(bytes) });
  });
});

it("[UPLOADS-WALK] a confirmed file may be attached again, but only to its own field", async () => {
  const { token, uploadId } = await walk(server, png);
  const removed = await filled(server, token, { image: null });
  expect(removed.fields.image).toBeUndefined();
  expectError(await setFields(server, removed.resumeToken, { any: { uploadId } }), 422, "invalid");
  const again = await filled(server, removed.resumeToken, { image: { uploadId } });
  expect(again.fields.image).toMatchObject({ uploadId, sha256: digestOf(PNG) });
});

it("[UPLOADS-CONFIRM-ORDER] one of two confirms at the same moment wins", async () => {
  const made = await create(server, "files");
  const signed = await announced(server, made.resumeToken, png);
  await send(signed, PNG);
  const replies = await Promise.all([1, 2, 3].map(() => confirm(server, signed.resumeToken, signed.uploadId)));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  expect(replies.find(({ status }) => status === 409)?.body.ok).toBe(false);
});
