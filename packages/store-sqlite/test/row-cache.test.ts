import { fixtures } from "@formbridge/conformance";
import type { Change } from "@formbridge/core";
import { expect, it } from "vitest";
import { createRowCache, type RowTexts } from "../src/row-cache.ts";

const { creation, update } = fixtures;
const docOf = ({ row }: Change): string => JSON.stringify(row.submission);
const textsOf = (change: Change): RowTexts => ({
  sealedToken: change.token?.sealed ?? "",
  sealedFields: change.row.sealedFields ?? null,
  doc: docOf(change),
});

function remembering() {
  const first = creation({ at: 0 });
  const second = update(first, 0);
  const third = update(second, 0);
  const { submissionId } = first.row.submission;
  const rows = createRowCache(() => {});
  const read = rows.read(textsOf(first));
  expect(read).toEqual({ ...first.row, sealedToken: first.token?.sealed });
  expect(rows.byId(submissionId)).toBe(read);
  return { first, second, third, submissionId, rows, revision: () => rows.byId(submissionId)?.submission.revision };
}

it("while a change is being written, the row is neither believed nor remembered", () => {
  const { first, second, submissionId, rows, revision } = remembering();
  rows.sent(submissionId);
  expect(revision()).toBeUndefined();
  rows.read(textsOf(first));
  rows.settled(second, docOf(second));
  expect(revision()).toBe(second.row.submission.revision);
});

it("an earlier change that is told late does not bring its row back", () => {
  const { second, third, submissionId, rows, revision } = remembering();
  rows.sent(submissionId);
  rows.sent(submissionId);
  rows.settled(second, docOf(second));
  expect(revision()).toBeUndefined();
  rows.settled(third, docOf(third));
  expect(revision()).toBe(third.row.submission.revision);
});

it("after a change that was refused, the database is asked", () => {
  const { second, submissionId, rows, revision } = remembering();
  rows.sent(submissionId);
  rows.settled(second, undefined);
  expect(revision()).toBeUndefined();
});

it("a row is found by its current token only", () => {
  const { first, second, submissionId, rows } = remembering();
  rows.sent(submissionId);
  rows.settled(first, docOf(first));
  expect(rows.byToken(first.token?.hash ?? "")?.submission).toEqual(first.row.submission);
  rows.sent(submissionId);
  rows.settled(second, docOf(second));
  expect(rows.byToken(first.token?.hash ?? "")).toBeUndefined();
  expect(rows.byToken(second.token?.hash ?? "")?.submission).toEqual(second.row.submission);
});

it("a row of the older generation is replaced, and forgotten, like any other", () => {
  const { second, third, submissionId, rows, revision } = remembering();
  for (let others = 0; others < 2_048; others++) rows.read(textsOf(creation({ at: 0 })));
  expect(revision()).toBe(1);
  rows.sent(submissionId);
  rows.settled(second, docOf(second));
  expect(revision()).toBe(second.row.submission.revision);
  rows.sent(submissionId);
  rows.settled(third, undefined);
  expect(revision()).toBeUndefined();
});

it("the rows of some thousands of changes are remembered, and those before them are not", () => {
  const rows = createRowCache(() => {});
  const changes = Array.from({ length: 8_192 }, () => creation({ at: 0 }));
  for (const change of changes) {
    rows.sent(change.row.submission.submissionId);
    rows.settled(change, docOf(change));
  }
  const isKnown = ({ row, token }: Change): boolean =>
    rows.byId(row.submission.submissionId) !== undefined && rows.byToken(token?.hash ?? "") !== undefined;
  expect(changes.slice(-2_048).every(isKnown)).toBe(true);
  expect(changes.slice(0, 4_096).some(isKnown)).toBe(false);
});
