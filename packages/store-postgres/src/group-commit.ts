import { type Change, type Committed, type Instant, type Loaded, type Store, WriteHeld } from "@formbridge/core";
import { submissions } from "@formbridge/store-sql";
import { commitBatch, type WrittenChange, writtenOf } from "./commit-statement.ts";
import type { Database } from "./database.ts";
import { codeOf, UNDONE, wasUndone } from "./failures.ts";
import { sql, statement } from "./sql.ts";

/** Larger batches would hold all callers of a busy moment: the server would then idle while the database writes, and the other way round. */
const MAX_BATCH = 20;
/** Batches in flight. The fewer, the larger each; more than one, since each waits for the disk. */
const MAX_IN_FLIGHT = 2;
/** A wait ends with the transaction that locked the row: then the change is stale, or the row is free. */
const MAX_WAITS = 16;

const WAIT_FOR_ROW = statement(
  "wait_for_row",
  sql`SELECT FROM ${submissions} WHERE submission_id = $1 FOR NO KEY UPDATE`,
);

interface Pending {
  change: Change;
  written: WrittenChange;
}

interface Queued extends Pending {
  resolve(committed: Committed): void;
  reject(error: unknown): void;
}

type Writer = Pick<Database, "write">;

/**
 * Changes that arrive in one turn of the event loop, or while two batches are in flight, are committed as one batch: one round trip, one
 * transaction, one disk sync.
 *
 *   commit ──▶ queue ──▶ batch ──▶ committed
 *                          ├─ undone by the database ──▶ each change in a batch of its own
 *                          └─ not written ──load──▶ key_taken, stale, too_late
 *                                             └─ its row is locked ──wait──▶ a batch of its own
 *
 * A batch never waits for a row, so two batches can't wait for each other.
 */
export function createGroupCommit(db: Database, load: (change: Change) => Promise<Loaded>): Store["commit"] {
  const queue: Queued[] = [];
  let inFlight = 0;
  let isScheduled = false;

  /** Commits a change that no batch has written. `wasTried`: one has tried to. */
  async function settle(writer: Writer, pending: Pending, wasTried: boolean): Promise<Committed> {
    let tried = wasTried;
    for (let waits = 0; waits < MAX_WAITS; waits += 1) {
      const refusal = refusalOf(pending.change, await load(pending.change), tried);
      if (refusal !== undefined) return refusal;
      if (tried) await writer.write(WAIT_FOR_ROW, [pending.change.row.submission.submissionId]);
      const at = await writeAlone(writer, pending);
      if (at !== undefined) return { kind: "committed", at };
      tried = true;
    }
    throw new WriteHeld("other writes hold the submission");
  }

  async function run(writer: Writer, batch: readonly Queued[]): Promise<void> {
    const distinct = withoutRivals(batch);
    try {
      const committed = await write(writer, distinct);
      for (const queued of batch) {
        const at = committed.get(queued);
        if (at !== undefined) queued.resolve({ kind: "committed", at });
        else settle(writer, queued, distinct.includes(queued)).then(queued.resolve, queued.reject);
      }
    } catch (error) {
      const canSplit = wasUndone(error) && (batch.length > 1 || codeOf(error) === UNDONE);
      for (const queued of batch) {
        if (canSplit) settle(writer, queued, false).then(queued.resolve, queued.reject);
        else queued.reject(error);
      }
    }
  }

  function flush(writer: Writer): void {
    while (queue.length > 0 && inFlight < MAX_IN_FLIGHT) {
      inFlight += 1;
      void run(writer, queue.splice(0, MAX_BATCH)).then(() => {
        inFlight -= 1;
        flush(writer);
      });
    }
  }

  return (change) =>
    db.handIn((writer) => {
      // Before the change joins a batch, so that one that can't be serialized fails alone.
      const written = writtenOf(change);
      return new Promise((resolve, reject) => {
        queue.push({ change, written, resolve, reject });
        if (isScheduled) return;
        isScheduled = true;
        setImmediate(() => {
          isScheduled = false;
          flush(writer);
        });
      });
    });
}

/** The commit times of the changes that were written. */
async function write(writer: Writer, batch: readonly Pending[]): Promise<Map<Pending, Instant>> {
  const { commit, values } = commitBatch(batch.map(({ written }) => written));
  const moments = new Map((await writer.write(commit, values)).map(({ submission_id, at }) => [submission_id, at]));
  const committed = new Map<Pending, Instant>();
  for (const pending of batch) {
    const at = moments.get(pending.change.row.submission.submissionId);
    if (at !== undefined) committed.set(pending, at);
  }
  return committed;
}

async function writeAlone(writer: Writer, pending: Pending): Promise<Instant | undefined> {
  try {
    return (await write(writer, [pending])).get(pending);
  } catch (error) {
    if (codeOf(error) === UNDONE) return undefined;
    throw error;
  }
}

/** Of changes of one submission, or under one key, the first: a statement can't write the same row twice. */
function withoutRivals(batch: readonly Queued[]): Queued[] {
  const taken = new Set<string>();
  return batch.filter(({ change: { tenant, row, key } }) => {
    const { submissionId, intakeId } = row.submission;
    const names = [submissionId, ...(key ? [JSON.stringify([tenant, intakeId, key.ref.operation, key.ref.hash])] : [])];
    if (names.some((name) => taken.has(name))) return false;
    for (const name of names) taken.add(name);
    return true;
  });
}

/** Why a change is not written, in the order of the port. Undefined: another transaction held a lock, so retry. */
function refusalOf({ expect, key }: Change, loaded: Loaded, wasTried: boolean): Committed | undefined {
  const { record, submission, now } = loaded;
  if (key !== undefined && record !== undefined && record.fingerprint !== key.replaces)
    return { kind: "key_taken", record };
  if ("absent" in expect) return submission !== undefined || wasTried ? { kind: "stale", loaded } : undefined;
  if (submission?.submission.revision !== expect.revision) return { kind: "stale", loaded };
  return expect.notAfter !== undefined && now > expect.notAfter ? { kind: "too_late", now } : undefined;
}
