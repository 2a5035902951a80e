import { createHmac } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { AGENT, create, eventTypes, expectError, HOUR, history, record } from "../support/submissions.ts";
import {
  announce,
  announced,
  confirm,
  digestOf,
  FILES_SCHEMA,
  filesAtRest,
  PDF,
  PNG,
  send,
  walk,
} from "../support/uploads.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_UPLOAD_IDLE_MS: "1500", FORMBRIDGE_REQUEST_TIMEOUT_MS: "500" } });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(() => server.stop());

const pdf = { field: "pdf", bytes: PDF };

/** A submission with a file announced. */
async function waiting(file = pdf): Promise<Loose> {
  const made = await create(server, "files");
  return await announced(server, made.resumeToken, file);
}

const grantOf = (url: string): string => new URL(url).searchParams.get("grant") ?? "";
const withGrant = (url: string, grant: string): string => `${url.split("?")[0]}?grant=${grant}`;
const tryNothing = async (signed: Loose) =>
  expectError(await confirm(server, signed.resumeToken, signed.uploadId), 422, "upload_pending");

describe("a file that is sent as announced", () => {
  it("[UPLOADS-WALK] is announced, sent, confirmed, and appears in its field", async () => {
    const { submissionId, uploadId, signed, reply } = await walk(server, {
      ...pdf,
      sha256: digestOf(PDF),
      filename: "w9.pdf",
    });
    expect(signed).toMatchObject({ ok: true, state: "awaiting_upload", method: "PUT" });
    expect(signed.constraints).toEqual({ accept: ["application/pdf"], maxBytes: 10_000_000 });
    expect(signed.expiresInMs).toBe(HOUR);
    expect(reply.status).toBe(200);
    const reference = {
      uploadId,
      filename: "w9.pdf",
      mimeType: "application/pdf",
      sizeBytes: PDF.length,
      sha256: digestOf(PDF),
    };
    expect(reply.body).toMatchObject({ state: "in_progress", fields: { pdf: reference } });
    expect((await record(server, submissionId)).fields.pdf).toEqual(reference);
    expect(await eventTypes(server, submissionId)).toEqual([
      "submission.created",
      "upload.requested",
      "upload.completed",
    ]);
  });

  it("[UPLOADS-WALK] [UPLOADS-SENSITIVE] appears in a field whose name has a dot", async () => {
    const scan = { "x-file": { accept: ["application/pdf"], maxBytes: 1000 }, "x-sensitive": true };
    await server.putIntake({ id: "dotted", schema: { type: "object", properties: { "scan.front": scan } } });
    const file = { field: "scan.front", bytes: PDF, filename: "ada.pdf" };
    const { submissionId, uploadId, signed, reply } = await walk(server, file, "dotted");
    expect(signed.constraints).toEqual({ accept: ["application/pdf"], maxBytes: 1000 });
    expect(reply.body.fields).toEqual({ "scan.front": { masked: true } });
    const { fields, attribution } = await record(server, submissionId);
    expect(fields).toEqual({ "scan.front": expect.objectContaining({ uploadId, filename: "ada.pdf" }) });
    expect(attribution).toHaveProperty(["scan.front", "version"], 3);
    expect(JSON.stringify(await history(server, submissionId))).not.toContain("ada.pdf");
    expect(await server.atRest()).not.toContain("ada.pdf");
  });

  it("[UPLOADS-WALK] may be sent again while it is not confirmed: the last one counts", async () => {
    const signed = await waiting();
    const other = Buffer.from(PDF.toString().replace("1.7", "1.4"));
    expect((await send(signed, PDF)).status).toBe(200);
    expect((await send(signed, other)).status).toBe(200);
    const reply = await confirm(server, signed.resumeToken, signed.uploadId);
    expect(reply.body.fields.pdf.sha256).toBe(digestOf(other));
  });

  it("[UPLOADS-WALK] is listed among several of a field that takes several", async () => {
    let { resumeToken: token } = await create(server, "files");
    for (const bytes of [PNG, PDF]) {
      const signed = await announced(server, token, { field: "many", bytes, mimeType: "application/octet-stream" });
      await send(signed, bytes);
      token = (await confirm(server, signed.resumeToken, signed.uploadId)).body.resumeToken;
    }
    const { fields } = (await server.call("GET", `/resume/${token}`)).body;
    expect(fields.many.map((file: Loose) => file.mimeType)).toEqual(["image/png", "application/pdf"]);
  });
});

describe("a signed URL", () => {
  it("[UPLOADS-URL-BOUND] altered in any character of its signature, or signed by somebody else, is a 403", async () => {
    const signed = await waiting();
    const grant = grantOf(signed.url);
    const [head = "", payload = "", mac = ""] = grant.split(".");
    const claims = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), sizeBytes: 1 };
    const altered = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const foreign = createHmac("sha256", "another secret").update(`${head}.${altered}`).digest("base64url");
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    const flipped = (at: number) => mac.slice(0, at) + (mac[at] === "A" ? "B" : "A") + mac.slice(at + 1);
    const forged = [
      ...[0, 10, 20, 30, 41].map((at) => `${head}.${payload}.${flipped(at)}`),
      `${head}.${altered}.${mac}`,
      `${head}.${altered}.${foreign}`,
      `${none}.${payload}.`,
      `${head}.${payload}`,
      "x",
      "",
    ];
    for (const text of forged) {
      const sent = await send({ ...signed, url: withGrant(signed.url, text) }, PDF);
      expectError(sent, 403, "forbidden");
    }
    expectError(await send({ ...signed, url: signed.url.split("?")[0] }, PDF), 403, "forbidden");
    await tryNothing(signed);
  });

  it("[UPLOADS-URL-BOUND] works for its own upload, and only for sending", async () => {
    const [signed, other] = [await waiting(), await waiting()];
    expectError(await send({ ...signed, url: withGrant(other.url, grantOf(signed.url)) }, PDF), 403, "forbidden");
    expectError(await server.call("GET", signed.url.slice(server.url.length)), 403, "forbidden");
    const resumable = { ...signed, url: withGrant(signed.url, grantOf(signed.resumable.url)) };
    expectError(await send(resumable, PDF), 403, "forbidden");
    await tryNothing(signed);
    await tryNothing(other);
  });

  it("[UPLOADS-URL-BOUND] is a 410 when it has expired, and so is one of a submission that has ended", async () => {
    const late = await waiting();
    const cancelled = await waiting();
    expect((await server.call("DELETE", `/resume/${cancelled.resumeToken}`, { body: { actor: AGENT } })).status).toBe(
      200,
    );
    expectError(await send(cancelled, PDF), 410, "cancelled");
    server.clock.advance(HOUR + 31_000);
    expectError(await send(late, PDF), 410, "token_expired");
    await tryNothing(late);
  });

  it("[UPLOADS-CONFIRM-ORDER] stops working once the file is confirmed", async () => {
    const { signed } = await walk(server, pdf);
    expectError(await send(signed, PDF), 409, "conflict");
  });
});

describe("a body that is not the announced file", () => {
  const cases: [string, Record<string, string | undefined>, Buffer, number, string][] = [
    [
      "a larger length",
      { "Content-Length": String(PDF.length + 1) },
      Buffer.concat([PDF, PDF.subarray(0, 1)]),
      413,
      "payload_too_large",
    ],
    ["a smaller length", { "Content-Length": "3" }, PDF.subarray(0, 3), 400, "bad_request"],
    ["no length", { "Content-Length": undefined, "Transfer-Encoding": "chunked" }, PDF, 400, "bad_request"],
    ["another type", { "Content-Type": "text/html" }, PDF, 415, "unsupported_media_type"],
    ["no type", { "Content-Type": undefined }, PDF, 415, "unsupported_media_type"],
    ["an empty type", { "Content-Type": "" }, PDF, 415, "unsupported_media_type"],
  ];
  it("[AUDIT-F38] an empty or duplicate type gets the announced one in the error", async () => {
    const signed = await waiting();
    for (const type of ["", "application/pdf, application/pdf", "pdf", "application/pdf application/pdf"]) {
      const error = expectError(await send(signed, PDF, { "Content-Type": type }), 415, "unsupported_media_type");
      expect({ type, message: error.message }).toEqual({
        type,
        message: "Content-Type must be application/pdf, as announced.",
      });
    }
    expect((await send(signed, PDF)).status).toBe(200);
  });

  it.each(cases)(
    "[UPLOADS-EXACT] %s is refused, and nothing is left behind",
    async (_name, headers, bytes, status, type) => {
      const signed = await waiting();
      const before = filesAtRest(server);
      expectError(await send(signed, bytes, headers), status, type);
      expect(filesAtRest(server)).toEqual(before);
      await tryNothing(signed);
    },
  );

  /** Opens a request and sends a part of its body. */
  function begin(signed: Loose, part: Buffer) {
    const { hostname, port, pathname, search } = new URL(signed.url);
    const socket = connect(Number(port), hostname);
    const headers = Object.entries(signed.headers).map(([name, value]) => `${name}: ${value}`);
    socket.write([`PUT ${pathname}${search} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n"));
    socket.write(part);
    let answer = "";
    socket.on("data", (piece) => {
      answer += piece.toString();
    });
    socket.on("error", () => {});
    return { socket, answer: () => (answer.includes("\r\n\r\n") ? answer : undefined) };
  }
  const being = (signed: Loose) => filesAtRest(server).filter((name) => name.includes(signed.uploadId));

  it("[UPLOADS-EXACT] a body that is cut off leaves nothing behind", async () => {
    const signed = await waiting();
    const { socket } = begin(signed, PDF.subarray(0, 10));
    await until(() => being(signed).length === 1);
    socket.destroy();
    await until(() => being(signed).length === 0);
    await tryNothing(signed);
    expect((await send(signed, PDF)).status).toBe(200);
  });

  it("[UPLOADS-ONE-WRITER] a second body while one is arriving is a 409, and the first one continues", async () => {
    const signed = await waiting();
    const first = begin(signed, PDF.subarray(0, 10));
    await until(() => being(signed).length === 1);
    const second = await send(signed, PDF);
    expect(expectError(second, 409, "conflict").retryable).toBe(true);
    first.socket.write(PDF.subarray(10));
    expect(await until(first.answer)).toContain("HTTP/1.1 200");
    first.socket.destroy();
    expect((await confirm(server, signed.resumeToken, signed.uploadId)).status).toBe(200);
  });

  it("[UPLOADS-SLOW] a silent connection is closed", async () => {
    const signed = await waiting();
    const { answer, socket } = begin(signed, PDF.subarray(0, 10));
    expect(await until(answer)).toMatch(/^HTTP\/1.1 400 [\s\S]*Nothing was received/);
    socket.destroy();
    await until(() => being(signed).length === 0);
  });

  /** Ends when the server would have given up on any other body. */
  async function impatience(): Promise<void> {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {}).resume();
    const head = ["POST /intakes/files/submissions HTTP/1.1", "Host: x", "Content-Type: application/json"];
    socket.write([...head, "Content-Length: 1000", "", ""].join("\r\n"));
    await once(socket, "close");
  }

  it("[UPLOADS-SLOW] a slow one is not, for longer than any other body may take", async () => {
    const signed = await waiting();
    const { answer, socket } = begin(signed, PDF.subarray(0, 1));
    for (let at = 1; at < 4; at++) {
      await impatience();
      socket.write(PDF.subarray(at, at + 1));
    }
    expect(answer()).toBeUndefined();
    socket.write(PDF.subarray(4));
    expect(await until(answer)).toContain("HTTP/1.1 200");
    socket.destroy();
  });

  it("[UPLOADS-LARGE] a file may be larger than the largest body of another kind", async () => {
    const bytes = Buffer.alloc(3_000_000, "formbridge\n");
    const { reply } = await walk(server, { field: "any", bytes, mimeType: "text/plain" });
    expect(reply.body.fields.any).toMatchObject({ sizeBytes: 3_000_000, sha256: digestOf(bytes) });
  });
});

describe("a confirm", () => {
  it("[UPLOADS-CONFIRM-ORDER] before the file is there is a 422, and changes nothing", async () => {
    const signed = await waiting();
    await tryNothing(signed);
    await send(signed, PDF);
    expect((await confirm(server, signed.resumeToken, signed.uploadId)).status).toBe(200);
  });

  it("[UPLOADS-CONFIRM-ORDER] twice is a 409; of another submission's upload, or of none, a 404", async () => {
    const done = await walk(server, pdf);
    expectError(await confirm(server, done.token, done.uploadId), 409, "conflict");
    const stranger = await create(server, "files");
    expectError(await confirm(server, stranger.resumeToken, done.uploadId), 404, "not_found");
    expectError(await confirm(server, stranger.resumeToken, "upl_1"), 404, "not_found");
  });

  it("[UPLOADS-CONFIRM-CHECKS] of a file with another digest is a 422 and an event, and the file is removed", async () => {
    const { submissionId, uploadId, reply } = await walk(server, { ...pdf, sha256: "0".repeat(64) });
    const error = expectError(reply, 422, "invalid");
    expect(error.fields).toMatchObject([{ path: "pdf", code: "custom" }]);
    expect(error.nextActions).toMatchObject([{ action: "request_upload", field: "pdf" }]);
    expect(filesAtRest(server).filter((name) => name.includes(uploadId))).toEqual([]);
    expect((await history(server, submissionId)).at(-1)).toMatchObject({
      type: "upload.failed",
      payload: { uploadId },
    });
    expect((await record(server, submissionId)).pendingUploads).toBeUndefined();
  });

  it("[UPLOADS-CONFIRM-CHECKS] of a file of another type is a 422, and the file is removed", async () => {
    const { uploadId, reply } = await walk(server, { field: "pdf", bytes: PNG });
    expect(expectError(reply, 422, "invalid").fields).toMatchObject([
      { path: "pdf", code: "file_wrong_type", received: "image/png" },
    ]);
    expect(filesAtRest(server).filter((name) => name.includes(uploadId))).toEqual([]);
  });

  it("[UPLOADS-SEALED] keeps the file that was checked, whatever is sent at the same moment", async () => {
    const other = Buffer.from(PDF.toString().replace("1.7", "6.6"));
    for (let round = 0; round < 20; round++) {
      const signed = await waiting();
      await send(signed, PDF);
      const [reply] = await Promise.all([confirm(server, signed.resumeToken, signed.uploadId), send(signed, other)]);
      expect(reply.status).toBe(200);
      const { sha256 } = reply.body.fields.pdf;
      const read = await server.call("GET", `/resume/${reply.body.resumeToken}/uploads/${signed.uploadId}`);
      const file = Buffer.from(await (await fetch(read.body.url)).arrayBuffer());
      expect(digestOf(file)).toBe(sha256);
      expect(filesAtRest(server).filter((name) => name.includes(signed.uploadId))).toEqual([
        expect.stringMatching(/\.kept$/),
      ]);
    }
  });
});

describe("an announcement", () => {
  it("[UPLOADS-CONFIRM-CHECKS] of a type or size that the field does not accept is a 422", async () => {
    const { resumeToken } = await create(server, "files");
    const wrong = await announce(server, resumeToken, { field: "pdf", bytes: PNG, mimeType: "image/png" });
    expect(expectError(wrong, 422, "invalid").fields).toMatchObject([{ code: "file_wrong_type" }]);
    const large = await announce(server, resumeToken, { ...pdf, sizeBytes: 10_000_001 });
    expect(expectError(large, 422, "invalid").fields).toMatchObject([{ code: "file_too_large" }]);
  });
});

it("[UPLOADS-KEY-ROTATION] a URL of an older secret works until that secret is removed", async () => {
  const { createUploadGrants } = await import("@formbridge/core");
  const [older, newer] = ["an older secret of thirty-two chars", "a newer secret of thirty-two chars!"];
  const grant = {
    tenant: "default",
    submissionId: "sub_1",
    uploadId: "upl_1",
    use: "put",
    sizeBytes: 1,
    mimeType: "text/plain",
    expiresAt: 1,
  } as const;
  const token = await createUploadGrants([older]).sign(grant);
  expect(await createUploadGrants([newer, older]).open(token, grant)).toMatchObject(grant);
  await expect(createUploadGrants([newer]).open(token, grant)).rejects.toThrow("signed");
  await expect(createUploadGrants([older]).open(token, { ...grant, use: "get" })).rejects.toThrow("signed");
});
