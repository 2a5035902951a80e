import type { JSONRPCMessage } from "@modelcontextprotocol/server";

export type Id = string | number;

/** Lasts as long as the connection, so don't wait for a response. */
const LISTEN = "subscriptions/listen";

/** The requests without a response yet. */
export function createOpenRequests() {
  const open = new Set<Id>();
  let allDone: (() => void) | undefined;
  const close = (id: unknown): void => {
    open.delete(id as Id);
    if (open.size === 0) allDone?.();
  };
  return {
    note(message: JSONRPCMessage): void {
      if (!("method" in message)) return;
      if ("id" in message && message.method !== LISTEN) open.add(message.id);
      // A cancelled request gets no response.
      if (message.method === "notifications/cancelled") close(message.params?.requestId);
    },
    settle(message: JSONRPCMessage): void {
      if (!("method" in message)) close(message.id);
    },
    ended: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        if (open.size === 0) return resolve();
        const late = setTimeout(resolve, ms);
        allDone = () => {
          clearTimeout(late);
          resolve();
        };
      }),
  };
}
