import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstBrokenLink } from "@formbridge/core";
import { expect, it, onTestFinished, vi } from "vitest";
import { startServerProcess, tempFolder } from "../support/child.ts";
import { caller, type Loose, minimalIntake, startTestServer, type TestServer } from "../support/harness.ts";
import { created, eventsOf, read, submit, typesOf, until } from "../support/moves.ts";

const DAY = 86_400_000;
const PIN = "pin-4711";
let server: TestServer;

async function start(env: Record<string, string> = {}): Promise<void> {
  server = await startTestServer({ env });
  onTestFinished(server.stop);
  await server.putIntake({
    id: "files",
    schema: {
      type: "object",
      properties: { name: { type: "string" }, pin: { type: "string", "x-sensitive": true } },
    },
    retention: { deleteAfterMs: DAY, archive: true },
  });
}
const sweep = () => server.server.core.operations.sweep();
const record = async (id: string): Promise<Loose> => (await read(server, id, server.adminKey)).body;
const fileOf = (folder: string, id: string): string => join(folder, "default", "files", `${id}.json`);
const ownFile = (id: string): string => fileOf(join(server.folder, "archive"), id);
const documentOf = (path: string): Loose => JSON.parse(readFileSync(path, "utf8"));
const erase = (id: string) => server.call("POST", `/submissions/${id}/erase`, { key: server.adminKey, body: {} });
/** Runs this just before the server next reads a history to archive it. */
function beforeHistory(work: () => Promise<unknown>): void {
  const { events } = server.server.core.backend;
  const { read: reading } = events;
  vi.spyOn(events, "read").mockImplementationOnce(async (...query) => {
    await work();
    return await reading(...query);
  });
}

async function finalized(): Promise<Loose> {
  const made = await created(server, "files", { body: { initialFields: { name: "Ada", pin: PIN } } });
  return (await submit(server, made.resumeToken, crypto.randomUUID())).body;
}

it("[RETENTION-ARCHIVE] the whole submission is in the document, and gone from the server", async () => {
  await start();
  const { submissionId } = await finalized();
  const before = await record(submissionId);
  const history = await eventsOf(server, submissionId, "stream=all&proof=true&limit=1000");
  server.clock.advance(DAY + 1);
  expect((await sweep()).erased).toBe(1);
  const document = documentOf(ownFile(submissionId));
  const {
    ok: _,
    resumeToken: _token,
    resumeUrl: _url,
    tokenExpiresAt: _end,
    recentActivity: _recent,
    ...shown
  } = before;
  expect(document).toEqual({
    format: "formbridge.submission.1",
    archivedAt: new Date(server.clock.now()).toISOString(),
    tenant: "default",
    submission: shown,
    files: [],
    events: history,
  });
  expect(document.submission.fields).toEqual({ name: "Ada", pin: PIN });
  const chained = document.events.map(({ proof, ...event }: Loose) => ({ ...event, ...proof }));
  expect(firstBrokenLink(chained)).toBeUndefined();
  expect(await record(submissionId)).toMatchObject({ erasedAt: document.archivedAt });
});

it("[RETENTION-ARCHIVE-FIRST] a folder that can't be written leaves everything unchanged, until it can", async () => {
  const folder = tempFolder();
  const archive = join(folder.path, "archive");
  writeFileSync(archive, "in the way");
  await start({ FORMBRIDGE_ARCHIVE: archive });
  await server.putIntake({ id: "plain", retention: { deleteAfterMs: DAY } });
  const { submissionId } = await finalized();
  const plain = await created(server, "plain", { body: { initialFields: { name: "Ada" } } });
  await server.call("DELETE", `/resume/${plain.resumeToken}`);
  server.clock.advance(DAY + 1);
  const failed = await sweep().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(AggregateError);
  expect(String((failed as AggregateError).errors[0])).toContain(`${submissionId} could not be archived`);
  expect((await record(submissionId)).fields).toEqual({ name: "Ada", pin: PIN });
  expect(typesOf(await eventsOf(server, submissionId))).not.toContain("submission.erased");
  expect(await record(plain.submissionId)).toHaveProperty("erasedAt");
  rmSync(archive);
  expect((await sweep()).erased).toBe(1);
  expect(documentOf(fileOf(archive, submissionId)).submission.fields.pin).toBe(PIN);
  expect(await record(submissionId)).not.toHaveProperty("fields");
  folder.remove();
});

it("[RETENTION-ARCHIVE-FIRST] the log says which one could not be archived, and why", async () => {
  const folder = tempFolder();
  const archive = join(folder.path, "archive");
  writeFileSync(archive, "in the way");
  const key = `fbk_${"a".repeat(43)}`;
  const running = await startServerProcess({
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_ADMIN_KEY: key,
    FORMBRIDGE_ARCHIVE: archive,
    FORMBRIDGE_SWEEP_INTERVAL_MS: "100",
  });
  const call = caller(running.url);
  const body = { ...minimalIntake("files"), retention: { deleteAfterMs: 1_000, archive: true } };
  expect((await call("PUT", "/intakes/files", { key, body })).status).toBe(201);
  const { submissionId, resumeToken } = await created({ call }, "files");
  await call("DELETE", `/resume/${resumeToken}`);
  await until(() => running.output().includes("could not be swept") || undefined);
  await running.stop();
  expect(running.output()).toMatch(new RegExp(`${submissionId} could not be archived[^\\n]*: (ENOTDIR|EEXIST)`));
  folder.remove();
});

it("[RETENTION-REQUEST] an erasure on request is not archived, and an archived document is removed", async () => {
  await start();
  const asked = await finalized();
  const swept = await finalized();
  expect((await erase(asked.submissionId)).status).toBe(200);
  expect(existsSync(ownFile(asked.submissionId))).toBe(false);
  server.clock.advance(DAY + 1);
  expect((await sweep()).erased).toBe(1);
  expect(existsSync(ownFile(swept.submissionId))).toBe(true);
  expect((await erase(swept.submissionId)).status).toBe(200);
  expect(existsSync(ownFile(swept.submissionId))).toBe(false);
});

it("[RETENTION-ARCHIVE] two sweeps at once leave one whole document", async () => {
  await start();
  const { submissionId } = await finalized();
  server.clock.advance(DAY + 1);
  beforeHistory(sweep);
  await sweep();
  const { events, submission } = documentOf(ownFile(submissionId));
  expect(submission.fields).toEqual({ name: "Ada", pin: PIN });
  expect(typesOf(events)).toContain("submission.finalized");
  expect(events.filter(({ actor, payload }: Loose) => actor === null || payload === null)).toEqual([]);
});

it("[RETENTION-REQUEST] an erasure on request is not archived by a sweep that has already started", async () => {
  await start();
  const early = await finalized();
  server.clock.advance(DAY + 1);
  beforeHistory(() => erase(early.submissionId));
  await sweep();
  expect(existsSync(ownFile(early.submissionId))).toBe(false);
  for (let round = 0; round < 20; round++) {
    const { submissionId } = await finalized();
    server.clock.advance(DAY + 1);
    const [erased] = await Promise.all([erase(submissionId), sweep()]);
    expect(erased.status).toBe(200);
    expect(existsSync(ownFile(submissionId))).toBe(false);
  }
});
