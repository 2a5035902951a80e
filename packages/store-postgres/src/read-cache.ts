import type { Instant } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";
import { answered, gatherQuestions } from "./gathered.ts";

const MAX_ENTRIES = 10_000;

const LOOK: Statement = {
  name: "look_whether_remembered_stands",
  text: "SELECT 1 AS place, formbridge.now_ms() AS now, (SELECT as_of FROM formbridge.remembered) AS as_of",
};

interface Look {
  now: Instant;
  /** NULL before the first key and the first intake. */
  as_of: string | null;
}

/**
 * Remembers what is read on every request and hardly ever changes: API keys, and which definition an intake has. Whoever asks first
 * looks whether one of them has changed, all who ask in one turn with one statement, which reads a single row. So an answer is never
 * older than its question, whichever process made the change: a revoked key is refused at once.
 */
export interface ReadCache {
  /** `now` is the database's, of the look. */
  get<Value>(name: string, read: () => Promise<Value | undefined>): Promise<{ now: Instant; value: Value | undefined }>;
}

export function createReadCache(db: Database): ReadCache {
  const look = gatherQuestions<Look>(db, LOOK);
  const entries = new Map<string, unknown>();
  /** That of the entries: each was read after a look that found it. */
  let asOf: string | null = null;
  return {
    async get<Value>(name: string, read: () => Promise<Value | undefined>) {
      const { now, as_of: current } = answered(await look([]));
      if (current !== asOf || entries.size >= MAX_ENTRIES) entries.clear();
      asOf = current;
      if (entries.has(name)) return { now, value: entries.get(name) as Value };
      const value = await read();
      // Others have looked meanwhile. What is not there is not remembered: anybody can ask for endless things that are not there.
      if (value !== undefined && current !== null && current === asOf) entries.set(name, value);
      return { now, value };
    },
  };
}
