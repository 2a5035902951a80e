import type { AnnouncedFile, FileName, UploadStorage } from "@formbridge/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** A new storage, and a client that uploads whole files the way the storage expects. */
export interface OpenedStorage {
  storage: UploadStorage;
  send(file: AnnouncedFile, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

let count = 0;
/** A file with a name that no other test uses. */
export function newFile(sizeBytes: number, mimeType = "application/pdf"): AnnouncedFile {
  const id = (++count).toString(16).padStart(12, "0");
  const name: FileName = { tenant: "Acme / Söhne", submissionId: `sub_0198-${id}`, uploadId: `upl_0198-${id}` };
  return { name, sizeBytes, mimeType };
}

export async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString("latin1");
}

const A = Buffer.from("aaaaaaaaaa");
const B = Buffer.from("bbbbbbbbbb");

export function describeUploadStorage(open: () => Promise<OpenedStorage>): void {
  describe("upload storage", () => {
    let opened: OpenedStorage;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened.close();
    });

    /** All names, from all pages. */
    async function everything(idleMs = 0): Promise<FileName[]> {
      const names: FileName[] = [];
      let after: string | undefined;
      do {
        const page = await opened.storage.list({ idleMs, ...(after !== undefined && { after }) });
        names.push(...page.names);
        after = page.next;
      } while (after !== undefined);
      return names;
    }

    it("seals nothing when nothing has arrived", async () => {
      expect(await opened.storage.seal(newFile(10).name)).toBeUndefined();
    });

    it("returns a sealed file byte by byte, or a part of it", async () => {
      const file = newFile(10);
      await opened.send(file, Buffer.from("0123456789"));
      expect(await opened.storage.seal(file.name)).toEqual({ sizeBytes: 10 });
      expect(await bytesOf(await opened.storage.read(file.name))).toBe("0123456789");
      expect(await bytesOf(await opened.storage.read(file.name, { start: 3, end: 5 }))).toBe("345");
    });

    it("keeps a file of several megabytes whole", async () => {
      const bytes = Buffer.alloc(3_000_001, "formbridge");
      const file = newFile(bytes.length);
      await opened.send(file, bytes);
      await opened.storage.seal(file.name);
      expect(await bytesOf(await opened.storage.read(file.name))).toBe(bytes.toString("latin1"));
    });

    it("keeps the last complete file as long as none is sealed", async () => {
      const file = newFile(10);
      await opened.send(file, A);
      await opened.send(file, B);
      await opened.storage.seal(file.name);
      expect(await bytesOf(await opened.storage.read(file.name))).toBe("bbbbbbbbbb");
    });

    it("nothing sent later changes a sealed file", async () => {
      const file = newFile(10);
      await opened.send(file, A);
      await opened.storage.seal(file.name);
      await opened.send(file, B).catch(() => {});
      expect(await opened.storage.seal(file.name)).toEqual({ sizeBytes: 10 });
      expect(await bytesOf(await opened.storage.read(file.name))).toBe("aaaaaaaaaa");
    });

    it("returns no file that is not sealed", async () => {
      const file = newFile(10);
      await opened.send(file, A);
      await expect(opened.storage.read(file.name).then(bytesOf)).rejects.toThrow();
    });

    it("deletes a file in any condition, and accepts that there is none", async () => {
      const [arrived, sealed, never] = [newFile(10), newFile(10), newFile(10)];
      await opened.send(arrived, A);
      await opened.send(sealed, A);
      await opened.storage.seal(sealed.name);
      for (const { name } of [arrived, sealed, never, sealed]) await opened.storage.drop(name);
      for (const { name } of [arrived, sealed, never]) expect(await opened.storage.seal(name)).toBeUndefined();
      expect(await everything()).toEqual([]);
    });

    it("lists every file once, with its names, and none that was touched recently", async () => {
      const files = Array.from({ length: 5 }, () => newFile(10));
      for (const file of files) await opened.send(file, A);
      const [first] = files;
      if (first !== undefined) await opened.storage.seal(first.name);
      const byId = (names: FileName[]) => names.toSorted((a, b) => (a.uploadId < b.uploadId ? -1 : 1));
      expect(byId(await everything())).toEqual(byId(files.map(({ name }) => name)));
      expect(await everything(3_600_000)).toEqual([]);
    });

    it("keeps files of two submissions and tenants apart", async () => {
      const file = newFile(10);
      const others = [
        { ...file.name, tenant: "Other" },
        { ...file.name, submissionId: `${file.name.submissionId}x` },
      ];
      await opened.send(file, A);
      for (const name of others) expect(await opened.storage.seal(name)).toBeUndefined();
    });
  });
}
