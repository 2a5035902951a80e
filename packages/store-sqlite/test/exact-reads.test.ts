/** A read that starts after a commit sees it, whichever connection or process made the commit. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fixtures } from "@formbridge/conformance";
import { openSqliteBackend } from "@formbridge/store-sqlite";
import { afterEach, expect, it } from "vitest";
import { tempFile } from "./temp-file.ts";

const { creation, update, newApiKey, TENANT } = fixtures;
const TRIES = 200;
const now = () => 0;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function twoOnOneFile() {
  const file = tempFile();
  const one = openSqliteBackend({ file, now });
  const other = openSqliteBackend({ file, now });
  closers.push(one.close, other.close);
  return { one, other };
}

it("[AUDIT-F7] a submission, by id and by token, in 200 of 200 tries", async () => {
  const { one, other } = await twoOnOneFile();
  const first = creation({ at: 0 });
  const by = { id: first.row.submission.submissionId, tenant: TENANT };
  await one.store.commit(first);
  const seen: unknown[] = [];
  const written: unknown[] = [];
  for (let round = 0, last = first; round < TRIES; round++) {
    const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
    // What the reader may have cached.
    await reader.store.load({ by: { token: last.token?.hash ?? "" } });
    const next = update(last, 0);
    await writer.store.commit(next);
    const { submission } = await reader.store.load({ by });
    const { presented } = await reader.store.load({ by: { token: last.token?.hash ?? "" } });
    seen.push([submission?.submission.revision, presented?.rotatedAt !== undefined]);
    written.push([next.row.submission.revision, true]);
    last = next;
  }
  expect(seen).toEqual(written);
});

it("[AUDIT-F7] commits of another process, in 200 of 200 tries", async () => {
  const file = tempFile();
  const backend = openSqliteBackend({ file, now });
  closers.push(backend.close);
  const other = fork(new URL("./other-process.ts", import.meta.url), [file], { serialization: "advanced" });
  closers.push(async () => {
    other.send("close");
    await once(other, "exit");
  });
  await once(other, "message");
  const first = creation({ at: 0 });
  const by = { id: first.row.submission.submissionId, tenant: TENANT };
  await backend.store.commit(first);
  const stale: number[] = [];
  for (let round = 0, last = first; round < TRIES; round++) {
    await backend.store.load({ by });
    const next = update(last, 0);
    other.send(next);
    const [outcome] = await once(other, "message");
    expect(outcome).toBe("committed");
    const { submission } = await backend.store.load({ by });
    if (submission?.submission.revision !== next.row.submission.revision) stale.push(round);
    last = next;
  }
  expect(stale).toEqual([]);
});

it("[AUDIT-F7] a key that another process adds and revokes, in 200 of 200 tries", async () => {
  const { one, other } = await twoOnOneFile();
  const stale: string[] = [];
  for (let round = 0; round < TRIES; round++) {
    const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
    const key = newApiKey();
    await writer.keys.add(key);
    if ((await reader.keys.find(key.hash)) === undefined) stale.push("added");
    await writer.store.commit(creation({ at: 0 }));
    await writer.keys.revoke({ tenant: key.tenant, keyId: key.keyId });
    if ((await reader.keys.find(key.hash)) !== undefined) stale.push("revoked");
  }
  expect(stale).toEqual([]);
});
