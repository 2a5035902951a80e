import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { drain, JOBS_BY_HAND } from "../support/reviews.ts";
import {
  AGENT,
  create,
  DAY,
  expectError,
  filled,
  HOUR,
  history,
  record,
  submit,
  unchangedBy,
} from "../support/submissions.ts";
import { announce, announced, confirm, FILES_SCHEMA, filesAtRest, PDF, send, walk } from "../support/uploads.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ env: JOBS_BY_HAND });
  await server.putIntake({ id: "files", schema: { ...FILES_SCHEMA, required: ["name", "pdf"] } });
});
afterEach(() => server.stop());

const pdf = { field: "pdf", bytes: PDF };
const jobs = () => server.server.core.backend.jobs.count();

const abandon = (path: string, uploadId: string, options: Loose = {}) =>
  server.call("DELETE", `${path}/uploads/${uploadId}`, { body: { actor: AGENT }, ...options });

describe("a row of a list whose file is being sent", () => {
  const row = (at: number) => ({ field: `rows.${at}.receipt`, bytes: PDF });
  const rows = (...names: string[]) => ({ rows: names.map((name) => ({ name })) });
  const set = (token: string, fields: object) =>
    server.call("PATCH", `/resume/${token}`, { body: { actor: AGENT, fields } });
  beforeEach(async () => {
    const receipt = { "x-file": { accept: ["application/pdf"], maxBytes: 1000 } };
    const items = { type: "object", properties: { name: { type: "string" }, receipt } };
    const schema = { type: "object", properties: { rows: { type: "array", items } } };
    await server.putIntake({ id: "expenses", schema });
  });

  it("gets it when a row before it was removed meanwhile", async () => {
    const made = await create(server, "expenses", { fields: rows("taxi", "hotel", "train") });
    const upload = await announced(server, made.resumeToken, row(1));
    const { body } = await set(upload.resumeToken, { "rows.0": null });
    await send(upload, PDF);
    const done = await confirm(server, body.resumeToken, upload.uploadId);
    const { uploadId } = upload;
    expect(done.body.fields.rows).toMatchObject([{ name: "hotel", receipt: { uploadId } }, { name: "train" }]);
    expect(done.body.fields.rows[1]).not.toHaveProperty("receipt");
  });

  it("takes its upload with it when it is removed", async () => {
    const made = await create(server, "expenses", { fields: rows("taxi", "hotel") });
    const upload = await announced(server, made.resumeToken, row(0));
    await send(upload, PDF);
    const { body } = await set(upload.resumeToken, rows("hotel"));
    expect(body.state).toBe("in_progress");
    expectError(await confirm(server, body.resumeToken, upload.uploadId), 404, "not_found");
    await drain(server);
    expect(filesAtRest(server)).toEqual([]);
  });
});

describe("a field announced twice", () => {
  it("[AUDIT-F2] the second one sent and confirmed leaves nothing pending, and submits", async () => {
    const made = await create(server, "files", { fields: { name: "Ada" } });
    const first = await announced(server, made.resumeToken, pdf);
    const second = await announced(server, first.resumeToken, pdf);
    await send(second, PDF);
    const done = await confirm(server, second.resumeToken, second.uploadId);
    expect(done.body).toMatchObject({ state: "in_progress", missingFields: [] });
    expect((await submit(server, done.body.resumeToken)).status).toBe(200);
    const [, , , given] = await history(server, made.submissionId);
    expect(given).toMatchObject({
      type: "upload.abandoned",
      payload: { uploadId: first.uploadId, field: "pdf", supersededBy: second.uploadId },
    });
  });

  it("[AUDIT-F2] [UPLOADS-NEXT] a late body or confirm of the first gets the id of its replacement", async () => {
    const made = await create(server, "files", { fields: { name: "Ada" } });
    const first = await announced(server, made.resumeToken, pdf);
    await send(first, PDF);
    const second = await announced(server, first.resumeToken, pdf);
    const next = [{ action: "request_upload", field: "pdf", uploadId: second.uploadId }];
    const sent = expectError(await send(first, PDF), 409, "conflict");
    expect(sent.message).toContain(second.uploadId);
    expect(sent.nextActions).toMatchObject(next);
    const late = expectError(await confirm(server, second.resumeToken, first.uploadId), 409, "conflict");
    expect(late.nextActions).toMatchObject(next);
    const patch = { headers: { "tus-resumable": "1.0.0", "upload-offset": "0" } };
    expectError(await server.call("PATCH", first.resumable.url.slice(server.url.length), patch), 409, "conflict");
    await drain(server);
    expect(filesAtRest(server)).toEqual([]);
  });

  it("[AUDIT-F2] an upload announced 100 times leaves one upload, one job and one file", async () => {
    const made = await create(server, "files", { fields: { name: "Ada" } });
    let signed = await announced(server, made.resumeToken, pdf);
    for (let count = 1; count < 100; count++) {
      if (count % 20 === 0) await send(signed, PDF);
      signed = await announced(server, signed.resumeToken, pdf);
    }
    await send(signed, PDF);
    await drain(server);
    expect((await record(server, made.submissionId)).pendingUploads).toMatchObject([{ uploadId: signed.uploadId }]);
    expect(await jobs()).toBe(1);
    expect(filesAtRest(server)).toHaveLength(1);
    expect((await confirm(server, signed.resumeToken, signed.uploadId)).status).toBe(200);
  });
});

describe("an upload that is abandoned", () => {
  it("[UPLOADS-ABANDON] by token: its URL stops working, its bytes are removed, and the state follows", async () => {
    const made = await create(server, "files", { fields: { name: "Ada" } });
    const signed = await announced(server, made.resumeToken, pdf);
    await send(signed, PDF);
    const reply = await abandon(`/resume/${signed.resumeToken}`, signed.uploadId);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      state: "in_progress",
      version: 3,
      uploadId: signed.uploadId,
      missingFields: ["pdf"],
    });
    expect(reply.body.resumeToken).not.toBe(signed.resumeToken);
    expect(expectError(await send(signed, PDF), 404, "not_found").nextActions).not.toEqual([]);
    expectError(await confirm(server, reply.body.resumeToken, signed.uploadId), 404, "not_found");
    await drain(server);
    expect(filesAtRest(server)).toEqual([]);
    expect(await jobs()).toBe(0);
    expect((await history(server, made.submissionId)).at(-1)).toMatchObject({
      type: "upload.abandoned",
      payload: { uploadId: signed.uploadId, field: "pdf" },
    });
  });

  it("[UPLOADS-ABANDON] while its bytes arrive: they leave nothing behind, and the sender gets an error", async () => {
    // Without a worker: nothing else removes them.
    await server.stop();
    server = await startTestServer();
    await server.putIntake({ id: "files", schema: FILES_SCHEMA });
    const made = await create(server, "files", { fields: { name: "Ada" } });
    const signed = await announced(server, made.resumeToken, pdf);
    const { hostname, port, pathname, search } = new URL(signed.url);
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (piece) => {
      answer += piece.toString();
    });
    const headers = Object.entries(signed.headers).map(([name, value]) => `${name}: ${value}`);
    socket.write([`PUT ${pathname}${search} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n"));
    socket.write(PDF.subarray(0, 10));
    await until(() => filesAtRest(server).length === 1);
    expect((await abandon(`/resume/${signed.resumeToken}`, signed.uploadId)).status).toBe(200);
    socket.write(PDF.subarray(10));
    await until(() => answer.includes("no such upload"));
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(filesAtRest(server)).toEqual([]);
  });

  it("[UPLOADS-ABANDON] by id, with a key that may hold the token and the version", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
    const made = await create(server, "files", { key });
    const signed = await announced(server, made.resumeToken, pdf);
    const path = `/submissions/${made.submissionId}`;
    expectError(await abandon(path, signed.uploadId, { key, body: {} }), 428, "token_required");
    const reply = await abandon(path, signed.uploadId, { key, body: { version: signed.version } });
    expect(reply.body).toMatchObject({ ok: true, state: "in_progress" });
  });

  it("[UPLOADS-ABANDON] [UPLOADS-NEXT] with a stale token, unknown or confirmed: refused, and nothing changes", async () => {
    const { submissionId, token, uploadId } = await walk(server, pdf);
    const confirmed = await unchangedBy(server, submissionId, () => abandon(`/resume/${token}`, uploadId));
    expect(expectError(confirmed, 409, "conflict").nextActions).toMatchObject([
      { action: "request_upload", field: "pdf" },
    ]);
    const unknown = await unchangedBy(server, submissionId, () => abandon(`/resume/${token}`, "upl_1"));
    expect(expectError(unknown, 404, "not_found").nextActions.length).toBeGreaterThan(0);
    expect(unknown.body).toMatchObject({ submissionId, state: "in_progress", version: 3, resumeToken: token });
    const next = await announced(server, token, { ...pdf, field: "any" });
    expectError(await abandon(`/resume/${token}`, next.uploadId), 409, "token_conflict");
  });
});

describe("validate", () => {
  it("[UPLOADS-VALIDATE] [AUDIT-F3] names the pending upload and why the submission is not ready", async () => {
    const made = await create(server, "files", { fields: { name: "Ada" } });
    const signed = await announced(server, made.resumeToken, pdf);
    const checked = await server.call("POST", `/resume/${signed.resumeToken}/validate`, { body: {} });
    expect(checked.body).toMatchObject({
      ready: false,
      state: "awaiting_upload",
      missingFields: ["pdf"],
      validationErrors: [{ path: "pdf", code: "file_required", message: expect.stringContaining(signed.uploadId) }],
      pendingUploads: [{ field: "pdf", uploadId: signed.uploadId }],
    });
  });

  it("[UPLOADS-VALIDATE] an optional file that was announced keeps it from being ready, and is named", async () => {
    const { token } = await walk(server, pdf);
    const named = await filled(server, token, { name: "Ada" });
    const signed = await announced(server, named.resumeToken, { ...pdf, field: "any" });
    const checked = await server.call("POST", `/resume/${signed.resumeToken}/validate`, { body: {} });
    expect(checked.body).toMatchObject({ ready: false, missingFields: [], validationErrors: [{ path: "any" }] });
  });

  it("[UPLOADS-VALIDATE] needs no token from a key that may hold it, and is not for other keys", async () => {
    const [key, other] = [
      await server.makeKey({ roles: ["agent"], actor: AGENT }),
      await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "eve" } }),
    ];
    const made = await create(server, "files", { key });
    const path = `/submissions/${made.submissionId}/validate`;
    expect((await server.call("POST", path, { key, body: {} })).body).toMatchObject({ ok: true, ready: false });
    expectError(await server.call("POST", path, { key: other, body: {} }), 403, "forbidden");
    expectError(await server.call("POST", path, { body: {} }), 428, "token_required");
    expectError(await server.call("POST", path, { key, body: { version: 9 } }), 409, "token_conflict");
  });
});

describe("submit", () => {
  it("[AUDIT-F3] with only an announced file missing is upload_pending and lists the path once", async () => {
    const made = await create(server, "files", { fields: { name: "Ada" } });
    const signed = await announced(server, made.resumeToken, pdf);
    const reply = await submit(server, signed.resumeToken);
    const error = expectError(reply, 422, "upload_pending");
    expect(error.fields.map(({ path }: Loose) => path)).toEqual(["pdf"]);
    expect(error.nextActions).toMatchObject([{ action: "request_upload", uploadId: signed.uploadId }]);
    expect(reply.body.state).toBe("awaiting_upload");
    const later = await filled(server, signed.resumeToken, { name: "Eve" });
    expect(later.state).toBe("awaiting_upload");
  });
});

describe("a file that has no place", () => {
  it("[AUDIT-F37] is refused when it is announced, and nothing changes", async () => {
    const receipt = { "x-file": { accept: ["application/pdf"], maxBytes: 1000 } };
    const list = { type: "array", items: { type: "object", properties: { receipt } } };
    await server.putIntake({ id: "lists", schema: { type: "object", properties: { list } } });
    const made = await create(server, "lists");
    for (const field of ["list.5.receipt", "list.5", "nope"]) {
      const reply = await unchangedBy(server, made.submissionId, () =>
        announce(server, made.resumeToken, { ...pdf, field }),
      );
      const error = expectError(reply, 422, "invalid");
      expect(error.fields).toMatchObject([{ path: field }]);
      expect(error.nextActions.length).toBeGreaterThan(0);
    }
    const { reply } = await walk(server, { ...pdf, field: "list.0.receipt" }, "lists");
    expect(reply.status).toBe(200);
  });
});

describe("the last pending file", () => {
  it("[AUDIT-F38] once collected leaves awaiting_upload", async () => {
    const made = await create(server, "files", { fields: { name: "Ada" } });
    await announced(server, made.resumeToken, pdf);
    server.clock.advance(HOUR + DAY);
    await drain(server);
    expect((await history(server, made.submissionId)).at(-1)).toMatchObject({
      type: "upload.collected",
      state: "in_progress",
    });
    expect((await record(server, made.submissionId)).state).toBe("in_progress");
  });
});
