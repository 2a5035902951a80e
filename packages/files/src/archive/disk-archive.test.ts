import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDiskArchive } from "./disk-archive.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "formbridge-archive-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PLACE = { tenant: "acme", intakeId: "contact", submissionId: "sub_1" };
const files = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), "utf8"));

it("[RETENTION-ARCHIVE-FILE] a document is one file that only its owner reads", async () => {
  await createDiskArchive(folder).put(PLACE, { name: "Ada" });
  expect(files()).toEqual(["acme/contact/sub_1.json"]);
  expect(read("acme/contact/sub_1.json")).toEqual({ name: "Ada" });
  expect(statSync(join(folder, "acme/contact/sub_1.json")).mode & 0o777).toBe(0o600);
});

it("[RETENTION-ARCHIVE-FILE] a later document replaces an earlier one, and leaves nothing behind", async () => {
  const archive = createDiskArchive(folder);
  await archive.put(PLACE, { name: "Ada" });
  await archive.put(PLACE, { name: "Grace" });
  expect(files()).toEqual(["acme/contact/sub_1.json"]);
  expect(read("acme/contact/sub_1.json")).toEqual({ name: "Grace" });
});

it("whatever a tenant is called, its documents stay in the folder", async () => {
  const archive = createDiskArchive(folder);
  for (const tenant of ["..", ".", "a/b", "a\\b", "../../etc", "é", "\ud800", "\0"]) {
    await archive.put({ ...PLACE, tenant }, { tenant });
  }
  expect(files()).toHaveLength(8);
  for (const path of files()) expect(path).toMatch(/^[\w%-]+\/contact\/sub_1\.json$/);
});

it("a document that can't be written is reported, and an earlier one stays", async () => {
  const archive = createDiskArchive(join(folder, "in"));
  await archive.put(PLACE, { name: "Ada" });
  await expect(archive.put(PLACE, { bad: 1n } as never)).rejects.toThrow();
  expect(files()).toEqual(["in/acme/contact/sub_1.json"]);
  expect(read("in/acme/contact/sub_1.json")).toEqual({ name: "Ada" });
  writeFileSync(join(folder, "file"), "");
  chmodSync(join(folder, "file"), 0o600);
  await expect(createDiskArchive(join(folder, "file")).put(PLACE, {})).rejects.toThrow();
});

it("dropping removes the document, and accepts that there is none", async () => {
  const archive = createDiskArchive(folder);
  await archive.drop(PLACE);
  await archive.put(PLACE, { name: "Ada" });
  await archive.drop(PLACE);
  await archive.drop(PLACE);
  expect(files()).toEqual([]);
});

/** What a process leaves behind when it dies while writing a document. */
function leftBehind(submissionId: string, { hoursAgo }: { hoursAgo: number }): string {
  const name = join(".drafts", `${submissionId}.4711.tmp`);
  mkdirSync(join(folder, ".drafts"), { recursive: true });
  writeFileSync(join(folder, name), '{ "name": "Ad');
  const at = Date.now() / 1000 - hoursAgo * 3600;
  utimesSync(join(folder, name), at, at);
  return name;
}

it("what a crash left of a document is removed with the next one, but not what is being written", async () => {
  const archive = createDiskArchive(folder);
  leftBehind("sub_2", { hoursAgo: 2 });
  const running = leftBehind("sub_3", { hoursAgo: 0 });
  await archive.put(PLACE, { name: "Ada" });
  expect(files().toSorted()).toEqual([running, "acme/contact/sub_1.json"]);
});

it("[RETENTION-REQUEST] dropping removes what a crash left of the document, too", async () => {
  const archive = createDiskArchive(folder);
  leftBehind("sub_1", { hoursAgo: 0 });
  const other = leftBehind("sub_11", { hoursAgo: 0 });
  await archive.drop(PLACE);
  expect(files()).toEqual([other]);
});

it("[ERASURE-ARCHIVE] documents are listed by intake and submission, page by page, of one tenant", async () => {
  const archive = createDiskArchive(folder);
  const places = ["a/sub_1", "a/sub_2", "b/sub_0"].map((name) => {
    const [intakeId = "", submissionId = ""] = name.split("/");
    return { tenant: "acme", intakeId, submissionId };
  });
  for (const place of places) await archive.put(place, { name: place.submissionId });
  await archive.put({ ...PLACE, tenant: "other" }, { name: "Ada" });
  const list = (after: string, limit: number) => archive.list({ tenant: "acme", after }, limit);
  expect(await list("", 10)).toEqual(places);
  expect(await list("", 2)).toEqual(places.slice(0, 2));
  expect(await list("a/sub_1", 2)).toEqual(places.slice(1));
  expect(await list("a/sub_2", 1)).toEqual(places.slice(2));
  expect(await list("b/sub_0", 1)).toEqual([]);
  expect(await archive.list({ tenant: "nobody", after: "" }, 1)).toEqual([]);
  expect(await archive.read({ ...PLACE, tenant: "other" })).toEqual({ name: "Ada" });
  expect(await archive.read(PLACE)).toBeUndefined();
});
