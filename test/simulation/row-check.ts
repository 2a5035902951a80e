import type { SubmissionState } from "@formbridge/contract";
import type { ChainedEvent, Change } from "@formbridge/core";
import { TRANSITIONS } from "../../packages/core/src/domain/transitions.ts";
import { canonical, sameJson } from "./chain-check.ts";
import { isEnded, must, type Sub } from "./model.ts";
import { fieldsOf } from "./sealer.ts";

export const FIRST_HEAD = "0".repeat(64);

/** Its events of the submission stream: what the model knows of. */
export const toldBy = ({ events }: Change): ChainedEvent[] => events.filter(({ stream }) => stream === "submission");

/** The row that a change writes is the model's: nothing was lost, nothing else changed. */
export function checkRow(change: Change, before: Sub | undefined, after: Sub): void {
  const row = change.row.submission;
  const seen = {
    state: row.state,
    version: row.version,
    revision: row.revision,
    epoch: row.epoch,
    revoked: row.tokensRevoked,
    expiresAt: row.expiresAt,
    replayCount: row.replayCount,
  };
  const wanted = {
    state: after.state,
    version: after.version,
    revision: after.revision,
    epoch: after.epoch,
    revoked: after.revoked,
    expiresAt: after.expiresAt,
    replayCount: after.replayCount,
  };
  must(
    JSON.stringify(seen) === JSON.stringify(wanted),
    () => `written ${JSON.stringify(seen)}, expected ${JSON.stringify(wanted)}`,
  );
  const fields = fieldsOf(change.row);
  must(
    sameJson(fields, after.fields),
    () => `an update was lost: written ${canonical(fields)}, expected ${canonical(after.fields)}`,
  );
  must(
    (change.token !== undefined) === (after.version !== (before?.version ?? 0)),
    "the version moves exactly with the token",
  );
  if (before === undefined) return;
  must(!isEnded(before) || after.version === before.version, "an ended submission was changed");
}

/** Its events continue the history, by moves that the table allows. */
export function checkEvents(change: Change, before: Sub | undefined): void {
  const { row } = change;
  const events = toldBy(change);
  let state: SubmissionState = before?.state ?? "draft";
  let head = before?.head ?? FIRST_HEAD;
  events.forEach((event, index) => {
    const moves: readonly SubmissionState[] = TRANSITIONS[state];
    must(
      event.state === state || moves.includes(event.state),
      `no row of the table goes from ${state} to ${event.state}`,
    );
    must(event.prevHash === head, `seq ${event.seq} does not name the hash before it`);
    state = event.state;
    head = event.hash;
    must(event.seq === (before?.seq ?? 0) + index + 1, `seq ${event.seq} follows ${(before?.seq ?? 0) + index}`);
    must(event.version === row.submission.version, `an event has version ${event.version}`);
  });
  const last = events.at(-1);
  must(last === undefined || last.state === row.submission.state, "the last event has another state than the row");
  must(
    row.submission.heads.submission.seq === (before?.seq ?? 0) + events.length,
    "the row's head is not its last event",
  );
}
