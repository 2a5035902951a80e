import { newFile } from "@formbridge/conformance";
import { StorageDown, UploadMisfit, type UploadStorage } from "@formbridge/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startS3, type TestS3 } from "../../../../test/support/s3.ts";
import { createS3Storage } from "../../src/index.ts";

let s3: TestS3;
let storage: UploadStorage;
const open = (endpoint: string) =>
  createS3Storage({ ...s3, endpoint, region: "us-east-1", prefix: "", forcePathStyle: true });
beforeAll(async () => {
  s3 = await startS3();
  storage = await open(s3.endpoint);
});
afterAll(() => s3.stop());

function way() {
  if (storage.way.kind !== "direct") throw new Error("clients reach a bucket by themselves");
  return storage.way;
}
const put = (url: string, body: string, type = "application/pdf") =>
  fetch(url, { method: "PUT", headers: { "content-type": type }, body });

it("a URL accepts the announced size and type, and nothing else", async () => {
  const file = newFile(10);
  const { url } = await way().signPut(file, 60_000);
  expect((await put(url, "0123456789X")).status).toBe(403);
  expect((await put(url, "012345678")).status).toBe(403);
  expect((await put(url, "0123456789", "text/html")).status).toBe(403);
  expect((await put(url.replace("incoming", "kept"), "0123456789")).status).toBe(403);
  expect((await fetch(url)).status).toBe(403);
  expect((await put(url, "0123456789")).status).toBe(200);
});

it("a file is served as a download, with the type that we set", async () => {
  const file = newFile(10);
  await put((await way().signPut(file, 60_000)).url, "0123456789");
  await storage.seal(file.name);
  const disposition = `attachment; filename="a.pdf"`;
  const response = await fetch(await way().signGet(file.name, { disposition, mimeType: "text/plain", ttlMs: 60_000 }));
  expect(await response.text()).toBe("0123456789");
  expect(response.headers.get("content-disposition")).toBe(disposition);
  expect(response.headers.get("content-type")).toBe("text/plain");
});

it("[UPLOADS-PARTS] a file in parts continues with the missing parts, and is complete when they are joined", async () => {
  const size = 16 * 1024 * 1024 + 5;
  const bytes = Buffer.alloc(size, "formbridge");
  const file = newFile(size);
  const signed = await way().signParts(file, { ttlMs: 60_000 });
  expect(signed.parts.map(({ sizeBytes }) => sizeBytes)).toEqual([16 * 1024 * 1024, 5]);
  const send = async ({ parts, partBytes }: typeof signed, index: number): Promise<string> => {
    const part = new Uint8Array(bytes.subarray(index * partBytes, (index + 1) * partBytes));
    const response = await fetch(parts[index]?.url ?? "", { method: "PUT", body: part });
    expect(response.status).toBe(200);
    return response.headers.get("etag") ?? "";
  };
  const first = await send(signed, 0);
  const again = await way().signParts(file, { ttlMs: 60_000, multipartId: signed.multipartId });
  expect(again.multipartId).toBe(signed.multipartId);
  const second = await send(again, 1);
  await expect(way().joinParts(file, signed.multipartId, [first])).rejects.toBeInstanceOf(UploadMisfit);
  expect(await storage.seal(file.name)).toBeUndefined();
  await way().joinParts(file, signed.multipartId, [first, second]);
  expect(await storage.seal(file.name)).toEqual({ sizeBytes: size });
});

it("distinguishes an unavailable storage from a missing file", async () => {
  const nowhere = await open("http://127.0.0.1:1");
  await expect(nowhere.seal(newFile(1).name)).rejects.toBeInstanceOf(StorageDown);
  expect(await storage.seal(newFile(1).name)).toBeUndefined();
});
