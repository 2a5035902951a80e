import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newFile } from "@formbridge/conformance";
import { type ReceivingWay, StorageFull } from "@formbridge/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDiskStorage } from "../../src/index.ts";

const MB = 1024 * 1024;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "formbridge-room-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(freeBytes: () => Promise<number>, reserveBytes = 100): ReceivingWay {
  const storage = createDiskStorage({ folder, idleMs: 30_000, reserveBytes, freeBytes });
  if (storage.way.kind !== "through_us") throw new Error("the disk is no server");
  return storage.way;
}

/** A body of one-megabyte pieces that counts how many were read. */
function body(pieces: number): { bytes: AsyncIterable<Uint8Array>; taken(): number } {
  let taken = 0;
  const bytes = (async function* () {
    for (; taken < pieces; ) {
      taken++;
      yield new Uint8Array(MB);
    }
  })();
  return { bytes, taken: () => taken };
}

const filesIn = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("."));

it("[AUDIT-F36] a file that would use the reserve is refused before a byte is taken", async () => {
  const way = open(async () => MB + 99);
  const { bytes, taken } = body(1);
  await expect(way.receive(newFile(MB), bytes, { from: 0, isWhole: true })).rejects.toThrow(StorageFull);
  expect(taken()).toBe(0);
  expect(filesIn()).toEqual([]);
});

it("[AUDIT-F36] a file that just fits is accepted, and a resumed one needs room only for the rest", async () => {
  const way = open(async () => MB + 100);
  expect(await way.receive(newFile(MB), body(1).bytes, { from: 0, isWhole: true })).toBe(MB);
  const file = newFile(2 * MB);
  let free = 2 * MB + 100;
  const shrinking = open(async () => free);
  expect(await shrinking.receive(file, body(1).bytes, { from: 0, isWhole: false })).toBe(MB);
  free = MB + 100;
  expect(await shrinking.receive(file, body(1).bytes, { from: MB, isWhole: false })).toBe(2 * MB);
});

it("[AUDIT-F36] a file is refused when others use up the room meanwhile", async () => {
  let looks = 0;
  const way = open(async () => (looks++ === 0 ? 1000 * MB : 0));
  const { bytes, taken } = body(30);
  await expect(way.receive(newFile(30 * MB), bytes, { from: 0, isWhole: true })).rejects.toThrow(StorageFull);
  expect(taken()).toBeLessThan(12);
  expect(filesIn()).toEqual([]);
});

it("[AUDIT-F36] reports the free space of the disk, even before the folder exists", async () => {
  const nowhere = join(folder, "not", "yet");
  const all = createDiskStorage({ folder: nowhere, idleMs: 1, reserveBytes: 0 });
  expect(await all.room?.()).toBeGreaterThan(0);
  const none = createDiskStorage({ folder: nowhere, idleMs: 1, reserveBytes: Number.MAX_SAFE_INTEGER });
  expect(await none.room?.()).toBe(0);
});
