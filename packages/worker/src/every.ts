export interface Loop {
  /** Resolves after the round in progress. */
  stop(): Promise<void>;
}

/**
 * Repeats a task with a pause between rounds, never two at once. A failed round is reported and doesn't end the loop; a
 * long one ends early when its signal is aborted.
 */
export function every(
  pauseMs: number,
  task: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): Loop {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const next = (): void => {
    if (ending.signal.aborted) return;
    timer = setTimeout(() => {
      round = task(ending.signal).catch(onError).then(next);
    }, pauseMs);
  };
  next();
  return {
    async stop() {
      ending.abort();
      clearTimeout(timer);
      await round;
    },
  };
}
