/** Collapses notifications: one that comes while nobody waits is kept for the next wait. */
export interface Notifier {
  notify(): void;
  /** Resolves at the next notification, or after `ms`. */
  notified(ms?: number): Promise<void>;
}

/** An abort notifies too. */
export function createNotifier(signal?: AbortSignal): Notifier {
  let isNotified = false;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    isNotified = true;
    wake?.();
  };
  signal?.addEventListener("abort", notify, { once: true });
  return {
    notify,
    async notified(ms) {
      let timer: NodeJS.Timeout | undefined;
      if (!isNotified) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (ms !== undefined) timer = setTimeout(resolve, ms);
        });
      }
      clearTimeout(timer);
      isNotified = false;
      wake = undefined;
    },
  };
}
