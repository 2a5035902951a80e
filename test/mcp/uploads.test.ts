import { afterAll, beforeAll, expect, it } from "vitest";
import { PDF, send } from "../support/uploads.ts";
import { type Scene, startScene } from "./scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.stop());

const file = { field: "pdf", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: PDF.length };

it("[UPLOADS-ABANDON] an agent gives up a file that it can't send, and the submission is ready again", async () => {
  const { admin } = scene;
  const made = await admin.done("formbridge_files_create", {});
  const signed = await admin.done("formbridge_files_upload", { resumeToken: made.resumeToken, ...file });
  const waiting = await admin.done("formbridge_files_validate", { resumeToken: signed.resumeToken });
  expect(waiting).toMatchObject({ ready: false, pendingUploads: [{ uploadId: signed.uploadId }] });
  const { uploadId } = signed;
  const given = await admin.done("formbridge_abandon_upload", { resumeToken: signed.resumeToken, uploadId });
  expect(given).toMatchObject({ state: "in_progress", uploadId });
  expect(await admin.done("formbridge_files_validate", { resumeToken: given.resumeToken })).toMatchObject({
    ready: true,
  });
});

it("[AUDIT-F2] [UPLOADS-NEXT] a late confirm names the upload that took its place, and following it works", async () => {
  const { admin } = scene;
  const made = await admin.done("formbridge_files_create", {});
  const first = await admin.done("formbridge_files_upload", { resumeToken: made.resumeToken, ...file });
  const second = await admin.done("formbridge_files_upload", { resumeToken: first.resumeToken, ...file });
  const args = { resumeToken: second.resumeToken, uploadId: first.uploadId };
  const { error } = await admin.refused("formbridge_files_confirm", args, "conflict");
  expect(error.nextActions).toMatchObject([{ uploadId: second.uploadId }]);
  await send(second, PDF);
  const { uploadId, resumeToken } = second;
  expect(await admin.done("formbridge_files_confirm", { resumeToken, uploadId })).toMatchObject({
    state: "in_progress",
  });
});
