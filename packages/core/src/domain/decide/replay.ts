import type { KeyedOperation } from "../../ports/store.ts";
import type { Submission } from "../submission.ts";
import type { Decision } from "./decision.ts";

/** A replay has no effect but this line in the history. Only a create's replays are counted. */
export function decideReplay(submission: Submission, operation: KeyedOperation): Decision {
  const replayCount = submission.replayCount + (operation === "create" ? 1 : 0);
  return { events: [{ type: "submission.replayed", operation, replayCount }], token: "keep" };
}
