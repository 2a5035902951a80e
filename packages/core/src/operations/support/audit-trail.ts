import type { Actor, EventType, JsonObject } from "@formbridge/contract";
import type { Instant } from "../../domain/instant.ts";
import { auditEvent, type Mint } from "../../domain/plan-change.ts";
import type { Submission } from "../../domain/submission.ts";
import type { AuditEvent, Loaded, Snapshot } from "../../ports/store.ts";
import type { Deps } from "../deps.ts";
import { commitTimed } from "./commit.ts";

interface Note {
  type: EventType;
  submission: Submission;
  by: Actor;
  payload: JsonObject;
  now: Instant;
  count: number;
}

const MAX_NOTES = 20_000;
const MAX_TRIES = 5;

/**
 * Reads and refusals change nothing, and are told in the history all the same. They are gathered and written by and by, so
 * that a read costs no write: what is noted between two flushes about one submission is one commit, and a repeated read one
 * event with its count.
 */
export interface AuditTrail {
  note(note: Omit<Note, "count">): void;
  /** Writes what was noted. Called every few seconds, and before the process ends. */
  flush(): Promise<void>;
}

export function createAuditTrail(deps: Deps): AuditTrail {
  let notes = new Map<string, Note>();
  return {
    note(note) {
      const { submission, type, by } = note;
      const key = `${submission.submissionId} ${type} ${submission.version} ${by.kind} ${by.id} ${JSON.stringify(note.payload)}`;
      const known = notes.get(key);
      if (known !== undefined) known.count += 1;
      else if (notes.size < MAX_NOTES) notes.set(key, { ...note, count: 1 });
    },
    async flush() {
      const due = notes;
      notes = new Map();
      const bySubmission = Map.groupBy(due.values(), (note) => note.submission.submissionId);
      await Promise.all([...bySubmission.values()].map((group) => append(deps, group)));
    },
  };
}

function eventsOf(deps: Deps, notes: readonly Note[]): AuditEvent[] {
  const mint: Mint = { eventId: () => deps.random.newId("evt"), salt: () => deps.random.salt() };
  return notes.map(({ type, submission, by, payload, now, count }) =>
    auditEvent(type, { submission, by, payload: { ...payload, count }, now, mint }),
  );
}

/** An audit raises the revision like every commit; a write that it overtakes decides again. */
async function append(deps: Deps, notes: readonly Note[]): Promise<void> {
  const [first] = notes;
  if (first === undefined) return;
  const { tenant, submissionId } = first.submission;
  let loaded: Loaded = await deps.backend.store.load({ by: { id: submissionId, tenant } });
  for (let tries = 0; tries < MAX_TRIES && loaded.submission !== undefined; tries++) {
    // Who read it before it was erased is erased, too.
    if (loaded.submission.submission.erasedAt !== undefined) return;
    const committed = await commitTimed(deps, {
      tenant,
      expect: { revision: loaded.submission.submission.revision },
      row: nextRevision(loaded.submission),
      events: [],
      audit: eventsOf(deps, notes),
      side: [],
      jobs: [],
      dropJobs: [],
    });
    if (committed.kind !== "stale") return;
    loaded = committed.loaded;
  }
}

const nextRevision = ({ submission, sealedFields }: Snapshot) => ({
  submission: { ...submission, revision: submission.revision + 1 },
  ...(sealedFields !== undefined && { sealedFields }),
});
