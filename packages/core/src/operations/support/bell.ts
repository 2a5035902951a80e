/** Rings once for many: what rings while nobody waits is remembered. */
export interface Bell {
  ring(): void;
  /** Until it rings, or `ms` are over. */
  rung(ms?: number): Promise<void>;
}

/** Rings when the signal is aborted, too. Rung at first: something may have come before it hung. */
export function createBell(signal: AbortSignal): Bell {
  let isRung = true;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    isRung = true;
    wake?.();
  };
  signal.addEventListener("abort", ring, { once: true });
  return {
    ring,
    async rung(ms) {
      let timer: NodeJS.Timeout | undefined;
      if (!isRung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (ms !== undefined) timer = setTimeout(resolve, ms);
        });
      }
      clearTimeout(timer);
      isRung = false;
      wake = undefined;
    },
  };
}
