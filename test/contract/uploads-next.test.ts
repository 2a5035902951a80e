import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, HOUR, MINUTE } from "../support/submissions.ts";
import { announce, announced, confirm, FILES_SCHEMA, PDF, PNG, send, walk } from "../support/uploads.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const deed = { "x-file": { accept: ["application/pdf"], maxBytes: 1000 }, "x-fill": "human" };
  const receipt = { "x-file": { accept: ["application/pdf"], maxBytes: 1000 } };
  const list = { type: "array", items: { type: "object", properties: { receipt } } };
  const properties = { ...(FILES_SCHEMA.properties as object), deed, list };
  await server.putIntake({ id: "files", schema: { ...FILES_SCHEMA, properties } });
});
afterAll(() => server.stop());

const pdf = { field: "pdf", bytes: PDF };
const TUS = { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream" };

async function waiting(): Promise<Loose> {
  const made = await create(server, "files");
  return await announced(server, made.resumeToken, pdf);
}
const announcing = async (file: Loose): Promise<Reply> =>
  await announce(server, (await create(server, "files")).resumeToken, { ...pdf, ...file });
const patch = (signed: Loose, headers: Record<string, string>): Promise<Reply> =>
  server.call("PATCH", signed.resumable.url.slice(server.url.length), { raw: PDF, headers: { ...TUS, ...headers } });

/** Every way in which an upload is refused for a caller who knows its submission. */
const REFUSALS: [string, () => Promise<Loose>][] = [
  ["a field that is not there", () => announcing({ field: "nope" })],
  ["a field that takes no file", () => announcing({ field: "name" })],
  ["one place of a list of files", () => announcing({ field: "many.0" })],
  ["an item that is not there", () => announcing({ field: "list.5.receipt" })],
  ["a type that the field does not take", () => announcing({ mimeType: "image/png" })],
  ["a size that the field does not take", () => announcing({ sizeBytes: 10_000_001 })],
  ["a field for humans", () => announcing({ field: "deed" })],
  [
    "one file too many",
    async () => {
      let { resumeToken } = await create(server, "files");
      const file = { field: "many", bytes: PDF };
      for (let n = 0; n < 3; n++) resumeToken = (await announced(server, resumeToken, file)).resumeToken;
      return await announce(server, resumeToken, file);
    },
  ],
  ["a body of another length", async () => send(await waiting(), PDF.subarray(0, 9), { "Content-Length": "9" })],
  ["a body of another type", async () => send(await waiting(), PDF, { "Content-Type": "text/html" })],
  [
    "a body without a length",
    async () => send(await waiting(), PDF, { "Content-Length": undefined, "Transfer-Encoding": "chunked" }),
  ],
  ["a body after the confirm", async () => send((await walk(server, pdf)).signed, PDF)],
  ["a part at another place", async () => patch(await waiting(), { "upload-offset": "7" })],
  [
    "a part of another type",
    async () => patch(await waiting(), { "upload-offset": "0", "content-type": "text/plain" }),
  ],
  [
    "a body after its URL's end",
    async () => {
      const signed = await waiting();
      server.clock.advance(HOUR + MINUTE);
      return await send(signed, PDF);
    },
  ],
  [
    "a body for a superseded upload",
    async () => {
      const signed = await waiting();
      await announced(server, signed.resumeToken, pdf);
      return await send(signed, PDF);
    },
  ],
  [
    "a confirm before the file",
    async () => {
      const signed = await waiting();
      return await confirm(server, signed.resumeToken, signed.uploadId);
    },
  ],
  ["a confirm of another file", async () => (await walk(server, { field: "pdf", bytes: PNG })).reply],
  [
    "a second confirm",
    async () => {
      const { token, uploadId } = await walk(server, pdf);
      return await confirm(server, token, uploadId);
    },
  ],
  ["a confirm of no upload", async () => confirm(server, (await waiting()).resumeToken, "upl_1")],
  [
    "the file of an upload that is not confirmed",
    async () => {
      const signed = await waiting();
      return await server.call("GET", `/resume/${signed.resumeToken}/uploads/${signed.uploadId}`);
    },
  ],
  [
    "moving a file to another field",
    async () => {
      const { token, uploadId } = await walk(server, pdf);
      return await server.call("PATCH", `/resume/${token}`, { body: { actor: AGENT, fields: { any: { uploadId } } } });
    },
  ],
];

it.each(REFUSALS)(
  "[UPLOADS-NEXT] %s is refused with its submission's state and what to do next",
  async (_name, act) => {
    const { status, body } = await act();
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).toMatchObject({ ok: false, submissionId: expect.any(String), version: expect.any(Number) });
    expect(body.state).toBeDefined();
    const { nextActions = [] } = body.error;
    expect(nextActions.length).toBeGreaterThan(0);
    for (const { action, hint } of nextActions) {
      expect(action).toMatch(/^[a-z_]+$/);
      expect(hint).toEqual(expect.any(String));
    }
  },
);

it("[UPLOADS-NEXT] a URL that was not signed leads to an announcement, too", async () => {
  const { error } = (await send({ url: `${server.url}/uploads/upl_1?grant=x`, headers: {} }, PDF)).body;
  expect(error.nextActions).toMatchObject([{ action: "request_upload" }]);
});
