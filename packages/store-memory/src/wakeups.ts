import type { Wakeups } from "@formbridge/core";

/** Notifies readers in this process. */
export function createLocalWakeups(): Wakeups {
  const sleepers = new Map<string, Set<{ wake: () => void }>>();
  return {
    notify: (submissionId) => {
      for (const sleeper of [...(sleepers.get(submissionId) ?? [])]) sleeper.wake();
    },
    subscribe: (submissionId, wake) => {
      const sleeper = { wake };
      const others = sleepers.get(submissionId) ?? new Set();
      sleepers.set(submissionId, others.add(sleeper));
      return () => {
        others.delete(sleeper);
        if (others.size === 0 && sleepers.get(submissionId) === others) sleepers.delete(submissionId);
      };
    },
  };
}
