import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../../test/support/harness.ts";
import { startS3, type TestS3 } from "../../../test/support/s3.ts";
import { FILES_SCHEMA, PDF } from "../../../test/support/uploads.ts";
import { type Network, networkTo } from "./network.ts";

const LARGE = new Blob([new Uint8Array(9_000_000).fill(7)]);

let server: TestServer;
let network: Network;
beforeAll(async () => {
  server = await startTestServer({ fakeClock: false });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(() => server.stop());
beforeEach(() => {
  network = networkTo(server);
});

describe("uploads of the client", () => {
  it("[CLIENT-UPLOAD] a file is announced, sent, checked and attached", async () => {
    const submission = await network.client().create("files");
    const file = { content: new Blob([PDF]), filename: "w9.pdf", mimeType: "application/pdf" };
    const { state } = await submission.upload("pdf", file).done;
    expect(state).toBe("in_progress");
    expect(submission.fields).toMatchObject({ pdf: { filename: "w9.pdf", sizeBytes: PDF.length } });
  });

  it("[CLIENT-UPLOAD-RESUMES] after a broken connection only the lost bytes are sent again, and progress never decreases", async () => {
    const submission = await network.client().create("files");
    let patches = 0;
    network.decide = ({ method }) => (method === "PATCH" && ++patches === 2 ? "lose_answer" : "pass");
    const progress: number[] = [];
    const upload = submission.upload(
      "any",
      { content: LARGE, filename: "large.bin" },
      { onProgress: (sent, total) => progress.push(sent / total) },
    );
    await upload.done;
    expect(progress).toEqual(progress.toSorted((one, other) => one - other));
    expect(progress.at(-1)).toBe(1);
    expect(patches).toBe(3);
  });

  it("[CLIENT-UPLOAD-PAUSE] waits while it is paused, and continues from there", async () => {
    const submission = await network.client().create("files");
    const upload = submission.upload(
      "any",
      { content: LARGE, filename: "large.bin" },
      {
        onProgress: (sent) => {
          if (sent > 0 && sent < LARGE.size && !paused) {
            paused = true;
            upload.pause();
            queueMicrotask(() => upload.resume());
          }
        },
      },
    );
    let paused = false;
    await upload.done;
    expect(paused).toBe(true);
    expect(submission.fields).toMatchObject({ any: { sizeBytes: LARGE.size } });
  });

  it("[CLIENT-UPLOAD-RESUMES] continues after a reload with the stored ticket", async () => {
    const submission = await network.client().create("files");
    network.decide = ({ method }) => (method === "PATCH" ? "lose_request" : "pass");
    const broken = submission.upload("any", { content: LARGE, filename: "large.bin" });
    await expect(broken.done).rejects.toThrow();
    network.decide = undefined;
    const ticket = broken.ticket ?? fail();
    await submission.resumeUpload(ticket, LARGE).done;
    expect(submission.fields).toMatchObject({ any: { uploadId: ticket.uploadId } });
  });

  it("[CLIENT-UPLOAD] a file that fails its check is refused with the reason", async () => {
    const submission = await network.client().create("files");
    const lying = { content: new Blob(["plain text"]), filename: "x.pdf", mimeType: "application/pdf" };
    await expect(submission.upload("pdf", lying).done).rejects.toMatchObject({ type: "invalid", status: 422 });
    await submission.set({ name: "still writable" });
  });

  describe("to a bucket", () => {
    let s3: TestS3;
    let remote: TestServer;
    beforeAll(async () => {
      s3 = await startS3();
      remote = await startTestServer({
        fakeClock: false,
        env: {
          FORMBRIDGE_S3_BUCKET: s3.bucket,
          FORMBRIDGE_S3_ENDPOINT: s3.endpoint,
          FORMBRIDGE_S3_REGION: "us-east-1",
          FORMBRIDGE_S3_FORCE_PATH_STYLE: "1",
          FORMBRIDGE_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
          FORMBRIDGE_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
        },
      });
      await remote.putIntake({ id: "files", schema: FILES_SCHEMA });
    });
    afterAll(async () => {
      await remote.stop();
      await s3.stop();
    });

    it("[CLIENT-UPLOAD] sends parts and completes the file", async () => {
      const there = networkTo(remote);
      const submission = await there.client().create("files");
      let parts = 0;
      there.decide = ({ method }) => (method === "PUT" && ++parts === 1 ? "lose_request" : "pass");
      await submission.upload("any", { content: LARGE, filename: "large.bin" }).done;
      expect(submission.fields).toMatchObject({ any: { sizeBytes: LARGE.size } });
    });
  });
});

function fail(): never {
  throw new Error("there is no ticket");
}
