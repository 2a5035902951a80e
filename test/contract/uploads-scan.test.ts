import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { eventTypes, expectError, history } from "../support/submissions.ts";
import { confirm, FILES_SCHEMA, filesAtRest, PDF, walk } from "../support/uploads.ts";

/** Detects one bad word, and gives no verdict while a certain file exists. */
const SCAN = `
  const { existsSync } = require("node:fs");
  let text = "";
  process.stdin.on("data", (piece) => { text += piece }).on("end", () => {
    if (!existsSync(process.argv[1])) process.exit(2);
    if (text.includes("EICAR")) console.log("Eicar-Test-Signature FOUND");
    process.exit(text.includes("EICAR") ? 1 : 0);
  });`;

let server: TestServer;
let switchFile: string;
beforeAll(async () => {
  const folder = (await import("node:os")).tmpdir();
  switchFile = join(folder, `formbridge-scan-${process.pid}-${Date.now()}`);
  server = await startTestServer({
    env: { FORMBRIDGE_SCAN_COMMAND: JSON.stringify([process.execPath, "-e", SCAN, switchFile]) },
  });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(() => server.stop());

it("[UPLOADS-SCAN-CLOSED] a file that could not be scanned is not accepted; when the scanner is back, it is", async () => {
  const { reply, signed, uploadId, submissionId } = await walk(server, { field: "pdf", bytes: PDF });
  expect(expectError(reply, 503, "service_unavailable")).toMatchObject({ retryable: true });
  expect(await eventTypes(server, submissionId)).toEqual(["submission.created", "upload.requested"]);
  expect(filesAtRest(server).filter((name) => name.includes(uploadId))).toHaveLength(1);
  writeFileSync(switchFile, "");
  expect((await confirm(server, signed.resumeToken, uploadId)).status).toBe(200);
});

it("[UPLOADS-SCAN] an infected file is refused, reported and removed", async () => {
  writeFileSync(switchFile, "");
  const bytes = Buffer.concat([PDF, Buffer.from("EICAR")]);
  const { reply, uploadId, submissionId } = await walk(server, { field: "pdf", bytes });
  expect(expectError(reply, 422, "invalid").fields).toMatchObject([
    { path: "pdf", code: "custom", message: expect.stringContaining("Eicar-Test-Signature") },
  ]);
  expect((await history(server, submissionId)).at(-1)).toMatchObject({ type: "upload.failed" });
  expect(filesAtRest(server).filter((name) => name.includes(uploadId))).toEqual([]);
});
