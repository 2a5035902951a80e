const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A few at once, then a rest as long as they took: whoever writes meanwhile waits for a few, never for all, and has at least half
 * of the time to itself. Answers what failed.
 */
export async function runInSteps<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    const began = performance.now();
    const settled = await Promise.allSettled(items.slice(from, from + atOnce).map(work));
    failures.push(...settled.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])));
    if (from + atOnce < items.length) await pause(performance.now() - began);
  }
  return failures;
}

const STEP = 50;

/** Forgets up to `most`, a little at a time: a store that has only one thread answers others in between. */
export async function forgetInSteps(most: number, forget: (limit: number) => Promise<number>): Promise<number> {
  let forgotten = 0;
  while (forgotten < most) {
    const limit = Math.min(STEP, most - forgotten);
    const began = performance.now();
    const some = await forget(limit);
    forgotten += some;
    if (some < limit) break;
    await pause(performance.now() - began);
  }
  return forgotten;
}
