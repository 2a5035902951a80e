import { type Change, type Committed, StoreDown } from "@formbridge/core";
import { DatabaseError } from "pg";
import { commitCalls, commitValues } from "./commit-arguments.ts";
import type { Database, Statement } from "./database.ts";
import { type LoadedColumns, loadedOf, recordOf } from "./loaded-row.ts";

type Answer =
  | { kind: "committed" | "too_late"; at: number }
  | { kind: "stale" | "key_taken"; loaded: LoadedColumns }
  | { kind: "not_at_once" };

interface Queued {
  change: Change;
  resolve(committed: Committed): void;
  reject(error: unknown): void;
}

/** A statement for each size is prepared on each connection. */
const MAX_GROUP = 8;
/** Groups on their way. The fewer, the larger each; more than one, since each waits for the disk. */
const MAX_GROUPS = 3;

const STATEMENTS = Array.from(
  { length: MAX_GROUP },
  (_, index): Statement => ({ name: `commit_${index + 1}`, text: `SELECT ${commitCalls(index + 1)}` }),
);

/** The deadline passed while the write waited for another one: it was undone, and its error tells the time. */
const TOO_LATE = "FB001";

type Writer = Pick<Database, "write">;

/**
 * Changes that arrive together are committed together: one round trip, one transaction, one sync of the disk. Most of what a
 * commit costs is paid once a transaction.
 *
 *   commit ──▶ queue ──setImmediate──▶ group ──▶ answers
 *     │                                  └─ not at once ──▶ alone
 *     └─ has a key, or more than row, token and events ──▶ alone
 *
 * Nobody in a group waits for a lock: a change that would, or that is refused, comes again alone, and hears there what is to be
 * said. When a group fails and was undone, all of it do.
 */
export function createGroupCommit(db: Database): (change: Change) => Promise<Committed> {
  const queue: Queued[] = [];
  let groups = 0;
  let isAwaited = false;

  async function run(writer: Writer, group: readonly Queued[]): Promise<void> {
    const answers = await together(writer, group);
    await Promise.all(
      group.map(async ({ change, resolve, reject }, place) => {
        const answer = answers?.[place] ?? { kind: "not_at_once" };
        if (answer.kind !== "not_at_once") return resolve(committedOf(answer));
        await alone(writer, change).then(resolve, reject);
      }),
    );
  }

  function flush(writer: Writer): void {
    while (queue.length > 0 && groups < MAX_GROUPS) {
      const group = queue.splice(0, MAX_GROUP);
      groups += 1;
      run(writer, group)
        .catch((error: unknown) => {
          for (const { reject } of group) reject(error);
        })
        .finally(() => {
          groups -= 1;
          flush(writer);
        });
    }
  }

  function join(writer: Writer, change: Change): Promise<Committed> {
    return new Promise((resolve, reject) => {
      queue.push({ change, resolve, reject });
      if (isAwaited) return;
      isAwaited = true;
      setImmediate(() => {
        isAwaited = false;
        flush(writer);
      });
    });
  }

  return (change) => db.handIn((writer) => (isPlain(change) ? join(writer, change) : alone(writer, change)));
}

/** A key is waited for by design; hand-offs and jobs touch rows that other transactions take in an order of their own. */
const isPlain = ({ key, side, jobs, dropJobs }: Change): boolean =>
  key === undefined && side.length === 0 && jobs.length === 0 && dropJobs.length === 0;

/** Undefined: the database undid the group, and none of it happened. */
async function together(writer: Writer, group: readonly Queued[]): Promise<Answer[] | undefined> {
  if (group.length === 1) return undefined;
  const statement = STATEMENTS[group.length - 1] as Statement;
  const values = group.flatMap(({ change }) => commitValues(change, { mayWait: false }));
  try {
    const [row] = await writer.write<Record<string, Answer>>(statement, values);
    return row && group.map((_, place) => row[`answer_${place}`] as Answer);
  } catch (error) {
    const wasUndone = error instanceof StoreDown && error.outcome === "not_applied";
    if (wasUndone && error.cause instanceof DatabaseError) return undefined;
    throw error;
  }
}

async function alone(writer: Writer, change: Change): Promise<Committed> {
  try {
    const values = commitValues(change, { mayWait: true });
    const [row] = await writer.write<{ answer_0: Answer }>(STATEMENTS[0] as Statement, values);
    if (row === undefined) throw new StoreDown("the database gave no answer", "unknown");
    return committedOf(row.answer_0);
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
      return { kind: "stale", loaded: loadedOf(answer.loaded) };
    case "key_taken": {
      const record = recordOf(answer.loaded);
      if (record === undefined) throw new StoreDown("the database told of no record", "not_applied");
      return { kind: "key_taken", record };
    }
    case "not_at_once":
      throw new StoreDown("the database put a change off that may wait", "not_applied");
  }
}
