const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A few at once, the next few when all of these are done: whoever writes meanwhile waits for a few, never for all. */
export async function runInSteps<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    const settled = await Promise.allSettled(items.slice(from, from + atOnce).map(work));
    failures.push(...settled.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])));
    await nextTurn();
  }
  return failures;
}

const STEP = 50;

/** Forgets up to `most`, a little at a time: a store that has only one thread answers others in between. */
export async function forgetInSteps(most: number, forget: (limit: number) => Promise<number>): Promise<number> {
  let forgotten = 0;
  while (forgotten < most) {
    const limit = Math.min(STEP, most - forgotten);
    const some = await forget(limit);
    forgotten += some;
    if (some < limit) break;
    await nextTurn();
  }
  return forgotten;
}
