import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeUploadStorage } from "@formbridge/conformance";
import { createDiskStorage } from "../../src/index.ts";

describeUploadStorage(async () => {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-blobs-"));
  const storage = createDiskStorage({ folder: join(folder, "uploads"), idleMs: 30_000, reserveBytes: 0 });
  return {
    storage,
    async send(file, bytes) {
      if (storage.way.kind !== "through_us") throw new Error("the disk is no server");
      const pieces = (async function* () {
        for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
      })();
      await storage.way.receive(file, pieces, { from: 0, isWhole: true });
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
});
