import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Id } from "./open-requests.ts";

interface Batch {
  waitsFor: Set<Id>;
  answers: unknown[];
}

/** Batches on a stdio connection: messages are handled one by one, and the responses are sent together. */
export function createBatches(write: (answers: unknown[]) => void) {
  const open = new Map<Id, Batch>();
  const finish = ({ waitsFor, answers }: Batch): void => {
    // A batch of notifications has no response.
    if (waitsFor.size === 0 && answers.length > 0) write(answers);
  };
  return {
    /** Starts a batch of these requests; `answers` holds the errors of its other messages. */
    begin(ids: readonly Id[], answers: unknown[]): void {
      const batch = { waitsFor: new Set(ids), answers };
      for (const id of ids) open.set(id, batch);
      finish(batch);
    },
    /** Keeps a response that belongs to a batch; false if it is to be sent on its own. */
    take(message: JSONRPCMessage): boolean {
      if ("method" in message || message.id === undefined) return false;
      const batch = open.get(message.id);
      if (batch === undefined) return false;
      open.delete(message.id);
      batch.waitsFor.delete(message.id);
      batch.answers.push(message);
      finish(batch);
      return true;
    },
  };
}
