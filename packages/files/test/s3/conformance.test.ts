import { describeUploadStorage } from "@formbridge/conformance";
import { startS3 } from "../../../../test/support/s3.ts";
import { createS3Storage } from "../../src/index.ts";

describeUploadStorage(async () => {
  const { stop, ...s3 } = await startS3();
  const storage = await createS3Storage({ ...s3, region: "us-east-1", prefix: "a/", forcePathStyle: true });
  return {
    storage,
    async send(file, bytes) {
      if (storage.way.kind !== "direct") throw new Error("clients reach a bucket by themselves");
      const { url, headers } = await storage.way.signPut(file, 60_000);
      const { "Content-Length": _, ...rest } = headers;
      const response = await fetch(url, { method: "PUT", headers: rest, body: new Uint8Array(bytes) });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    },
    close: stop,
  };
});
