/** When a batch goes to the thread that writes. The thread is played by the test, which says what it has done and told. */
import { fixtures } from "@formbridge/conformance";
import type { Change } from "@formbridge/core";
import { expect, it } from "vitest";
import { createGroupCommit } from "../src/group-commit.ts";
import type { BatchAnswer } from "../src/writer/write-batch.ts";
import type { WriterThread } from "../src/writer-thread.ts";

const { creation } = fixtures;
const many = (count: number): Change[] => Array.from({ length: count }, () => creation({ at: 0 }));
const turn = (): Promise<void> => new Promise(setImmediate);

function play() {
  const batches: number[] = [];
  const told: ((answer: BatchAnswer) => void)[] = [];
  let written = 0;
  const thread: WriterThread = {
    start: async () => {},
    isUp: () => true,
    isBusy: () => written < batches.length,
    send(batch, tell) {
      batches.push(batch.orders.length);
      told.push(tell as (answer: BatchAnswer) => void);
    },
    close: async () => {},
  };
  const watcher = { sent() {}, settled() {}, ended() {}, sentToThread() {}, cameBack() {}, foreignWrites() {} };
  const unreachable = () => expect.unreachable();
  const group = createGroupCommit({ now: () => 0, write: unreachable, thread, reload: unreachable, watcher });
  return {
    group,
    batches,
    commit: (count: number) => Promise.all(many(count).map(group.commit)),
    /** The thread has written one more batch, and its answer is on the way. */
    write: () => {
      written += 1;
    },
    /** The oldest answer arrives. */
    tell: () => told.shift()?.({ outcomes: Array(256).fill(0), ms: 0, foreign: false }),
  };
}

it("a good many go at once, and few with the next turn", async () => {
  const { batches, commit } = play();
  void commit(16);
  expect(batches).toEqual([16]);
  const other = play();
  void other.commit(3);
  expect(other.batches).toEqual([]);
  await turn();
  expect(other.batches).toEqual([3]);
});

it("one more waits for a thread that is busy, and no third", async () => {
  const { batches, commit } = play();
  void commit(100);
  expect(batches).toEqual([16, 16]);
  await turn();
  expect(batches).toEqual([16, 16]);
});

it("a thread that has written gets the next batch after the answers of the last have left", async () => {
  const { batches, commit, write, tell } = play();
  const first = commit(16);
  write();
  void commit(20);
  await turn();
  expect(batches).toEqual([16]);
  tell();
  await first;
  expect(batches).toEqual([16]);
  await turn();
  expect(batches).toEqual([16, 20]);
});

it("few wait for a thread that is busy, and share what goes next", async () => {
  const { batches, commit, write, tell } = play();
  void commit(16);
  void commit(3);
  await turn();
  void commit(4);
  await turn();
  expect(batches).toEqual([16]);
  write();
  tell();
  await turn();
  expect(batches).toEqual([16, 7]);
});

it("a look who else has written rides with the next batch; alone it goes to an idle thread, and keeps no batch waiting", async () => {
  const { group, batches, commit, write, tell } = play();
  void commit(16);
  void commit(3);
  group.look();
  expect(batches).toEqual([16]);
  write();
  tell();
  await turn();
  expect(batches).toEqual([16, 3]);
  write();
  tell();
  await turn();
  expect(batches).toEqual([16, 3]);
  group.look();
  expect(batches).toEqual([16, 3, 0]);
  void commit(16);
  expect(batches).toEqual([16, 3, 0, 16]);
});

it("closing sends all that is queued, and waits for it", async () => {
  const { group, batches, commit, write, tell } = play();
  const all = commit(300);
  let isClosed = false;
  const closed = group.close().then(() => {
    isClosed = true;
  });
  while (batches.reduce((sum, changes) => sum + changes, 0) < 300) {
    expect(isClosed).toBe(false);
    write();
    tell();
    await turn();
  }
  write();
  tell();
  tell();
  await Promise.all([all, closed]);
  await expect(group.commit(creation({ at: 0 }))).rejects.toMatchObject({ outcome: "not_applied" });
});
