import { fixtures } from "@formbridge/conformance";
import type { Change, Snapshot } from "@formbridge/core";
import { expect, it } from "vitest";
import { createRowCache } from "../src/row-cache.ts";

const { creation, update } = fixtures;
const snapshotOf = (change: Change): Snapshot => ({ ...change.row, sealedToken: change.token?.sealed ?? "" });

function remembering() {
  const first = creation({ at: 0 });
  const second = update(first, 0);
  const third = update(second, 0);
  const { submissionId } = first.row.submission;
  const rows = createRowCache(() => {});
  rows.read(snapshotOf(first));
  expect(rows.byId(submissionId)).toEqual(snapshotOf(first));
  return { first, second, third, submissionId, rows, revision: () => rows.byId(submissionId)?.submission.revision };
}

it("while a change is being written, the row is neither believed nor remembered", () => {
  const { first, second, submissionId, rows, revision } = remembering();
  rows.sent(submissionId);
  expect(revision()).toBeUndefined();
  rows.read(snapshotOf(first));
  rows.settled(second, true);
  expect(revision()).toBe(second.row.submission.revision);
});

it("an earlier change that is told late does not bring its row back", () => {
  const { second, third, submissionId, rows, revision } = remembering();
  rows.sent(submissionId);
  rows.sent(submissionId);
  rows.settled(second, true);
  expect(revision()).toBeUndefined();
  rows.settled(third, true);
  expect(revision()).toBe(third.row.submission.revision);
});

it("after a change that was refused, the database is asked", () => {
  const { second, submissionId, rows, revision } = remembering();
  rows.sent(submissionId);
  rows.settled(second, false);
  expect(revision()).toBeUndefined();
});
