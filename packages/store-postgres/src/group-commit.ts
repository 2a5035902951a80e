import {
  type Change,
  type Committed,
  endedAt,
  type Instant,
  type Loaded,
  type Store,
  StoreDown,
} from "@formbridge/core";
import { DatabaseError } from "pg";
import { COMMIT_CALL, commitValues, nextValue } from "./commit-arguments.ts";
import type { Database, Statement } from "./database.ts";
import { COMMIT_GROUP, type GroupRow, groupRow, groupValues } from "./group-statement.ts";
import { loadedOf, recordOf, type StaleColumns } from "./loaded-row.ts";
import { eraseValues } from "./retention.ts";
import { putReviewLinks, reviewLinkValues } from "./review-links.ts";
import type { Value } from "./sized-query.ts";

type Answer = { kind: "committed" | "too_late"; at: number } | { kind: "stale" | "key_taken"; loaded: StaleColumns };

interface Placed {
  place: number;
  at: Instant;
}

interface Queued {
  change: Change;
  row: GroupRow;
  resolve(committed: Committed): void;
  reject(error: unknown): void;
}

const MAX_GROUP = 16;
/** Groups on their way. The fewer, the larger each; more than one, since each waits for the disk. */
const MAX_GROUPS = 2;

const ALONE: Statement = { name: "commit", text: `SELECT ${COMMIT_CALL}` };

const WITH_LINKS: Statement = {
  name: "commit_with_links",
  text: `WITH c AS MATERIALIZED (SELECT ${COMMIT_CALL}), links AS (${putReviewLinks(nextValue(1))}) SELECT c.answer FROM c`,
};

const rest = [1, 2, 3, 4, 5].map(nextValue).join(", ");
/** One statement, and so one transaction: the commit, and what an erasure takes beside its row. */
const ERASE: Statement = {
  name: "erase_submission",
  text: `WITH c AS MATERIALIZED (SELECT ${COMMIT_CALL})
    SELECT c.answer, CASE WHEN c.answer ->> 'kind' = 'committed' THEN formbridge.erase_rest($1, $2, ${rest}) END AS erased
    FROM c`,
};

/** The deadline passed while the write waited for another one: it was undone, and its error tells the time. */
const TOO_LATE = "FB001";

type Writer = Pick<Database, "write">;

/**
 * Changes that arrive together are committed together: one round trip, one transaction, one sync of the disk. Most of what a
 * commit costs is paid once a transaction.
 *
 *   commit ──▶ queue ──setImmediate──▶ group ──▶ committed
 *     │                                  └─ refused ──load──▶ stale
 *     │                                                  └─ as it was ──▶ alone
 *     └─ has a key, or more than row, token and events ──▶ alone; an erasure too
 *
 * Nobody in a group waits for a lock: a change that would comes again alone, and waits there. When a group fails and was
 * undone, all of it come alone.
 */
export function createGroupCommit(db: Database, load: (change: Change) => Promise<Loaded>): Store["commit"] {
  const queue: Queued[] = [];
  let groups = 0;
  let isAwaited = false;

  /** Most who are refused are late, and several of them ask the same. Whoever is not late comes alone, and is told what it is. */
  async function again(writer: Writer, change: Change): Promise<Committed> {
    // When this fails, the database has something to say that the commit is told as well.
    const loaded = await load(change).catch(() => undefined);
    return loaded !== undefined && hasMoved(change, loaded)
      ? { kind: "stale", loaded }
      : await alone(writer, commitValues(change));
  }

  async function run(writer: Writer, group: readonly Queued[]): Promise<void> {
    try {
      const committed = await together(writer, firstOfEach(group));
      for (const queued of group) {
        const at = committed.get(queued);
        if (at === undefined) again(writer, queued.change).then(queued.resolve, queued.reject);
        else queued.resolve({ kind: "committed", at });
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  function flush(writer: Writer): void {
    while (queue.length > 0 && groups < MAX_GROUPS) {
      groups += 1;
      void run(writer, queue.splice(0, MAX_GROUP)).then(() => {
        groups -= 1;
        flush(writer);
      });
    }
  }

  function join(writer: Writer, change: Change): Promise<Committed> {
    const row = groupRow(change);
    return new Promise((resolve, reject) => {
      queue.push({ change, row, resolve, reject });
      if (isAwaited) return;
      isAwaited = true;
      setImmediate(() => {
        isAwaited = false;
        flush(writer);
      });
    });
  }

  return (change) =>
    db.handIn(async (writer) => {
      if (isPlain(change)) return await join(writer, change);
      const values = commitValues(change);
      if (change.erase === true) return await ask(writer, ERASE, [...values, ...eraseValues(change)]);
      return await alone(writer, values, reviewLinkValues(change));
    });
}

/**
 * A key is waited for by design; what rests beside the row and jobs touch rows that other transactions take in an order of their own;
 * a chain is only that of one event; and the end of a submission, which has events, touches its records.
 */
const isPlain = ({ key, side, jobs, dropJobs, erase, audit, events, row }: Change): boolean =>
  key === undefined &&
  side.length === 0 &&
  jobs.length === 0 &&
  dropJobs.length === 0 &&
  erase !== true &&
  audit.length <= 1 &&
  (events.length === 0 || endedAt(row.submission) === undefined);

/** Of several changes of one submission the first: the others are late when that is committed. */
const firstOfEach = (group: readonly Queued[]): Queued[] => [
  ...new Map(group.toReversed().map((queued) => [queued.change.row.submission.submissionId, queued])).values(),
];

const hasMoved = ({ expect }: Change, { submission }: Loaded): boolean =>
  "absent" in expect ? submission !== undefined : submission?.submission.revision !== expect.revision;

/** When each of those was committed that were. None: the database undid the group. */
async function together(writer: Writer, group: readonly Queued[]): Promise<Map<Queued | undefined, Instant>> {
  try {
    const rows = await writer.write<Placed>(COMMIT_GROUP, groupValues(group.map(({ row }) => row)));
    return new Map(rows.map(({ place, at }) => [group[place - 1], at]));
  } catch (error) {
    const wasUndone = error instanceof StoreDown && error.outcome === "not_applied";
    if (wasUndone && error.cause instanceof DatabaseError) return new Map();
    throw error;
  }
}

const alone = (writer: Writer, values: readonly Value[], links?: string): Promise<Committed> =>
  links === undefined ? ask(writer, ALONE, values) : ask(writer, WITH_LINKS, [...values, links]);

async function ask(writer: Writer, statement: Statement, values: readonly Value[]): Promise<Committed> {
  try {
    const [row] = await writer.write<{ answer: Answer }>(statement, values);
    if (row === undefined) throw new StoreDown("the database gave no answer", "unknown");
    return committedOf(row.answer);
  } catch (error) {
    const cause = error instanceof StoreDown ? error.cause : undefined;
    if (cause instanceof DatabaseError && cause.code === TOO_LATE)
      return { kind: "too_late", now: Number(cause.detail) };
    throw error;
  }
}

function committedOf(answer: Answer): Committed {
  switch (answer.kind) {
    case "committed":
      return { kind: "committed", at: answer.at };
    case "too_late":
      return { kind: "too_late", now: answer.at };
    case "stale":
      return { kind: "stale", loaded: loadedOf({ ...answer.loaded, record: answer.loaded }) };
    case "key_taken": {
      const record = recordOf(answer.loaded);
      if (record === undefined) throw new StoreDown("the database told of no record", "not_applied");
      return { kind: "key_taken", record };
    }
  }
}
