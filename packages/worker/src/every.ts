export interface Loop {
  /** Ends after the round that is running. */
  stop(): Promise<void>;
}

/** Repeats a task with a pause between rounds, never two at once. A round that fails is told and does not end the loop. */
export function every(pauseMs: number, task: () => Promise<void>, onError: (error: unknown) => void): Loop {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const next = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      round = task().catch(onError).then(next);
    }, pauseMs);
  };
  next();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
