import { createDice } from "../simulation/random.ts";
import { until } from "../support/moves.ts";
import { checkStories } from "./ledger-check.ts";
import { type Client, type Load, newLoad, writeThrough } from "./patient-client.ts";

interface Loading extends Pick<Client, "name" | "mayLose" | "timeoutMs"> {
  url: string;
  clients: number;
  /** After the load: when it resolves, no request is in flight any more. */
  settle?: () => Promise<void>;
}

export interface Seen {
  load: Load;
  /** Waits until this many more calls have succeeded. */
  more(count: number): Promise<void>;
  /** Waits until this many more were refused. */
  refused(count: number): Promise<void>;
}

const PATIENCE_MS = 60_000;

/** Clients write, the fault comes and goes, and everything that they were told is compared with what is stored. */
export async function underLoad(loading: Loading, fault: (seen: Seen) => Promise<void>): Promise<Load> {
  const { url, clients, settle, name, ...client } = loading;
  const load = newLoad();
  const from = new Date().toISOString();
  const finished = Promise.all(
    Array.from({ length: clients }, (_, index) =>
      writeThrough(url, { ...client, name: `${name}-${index}`, dice: createDice(Date.now() + index), load }),
    ),
  );
  // A client that ends before the load is over has failed: its error is the one to see.
  const waitFor = (isSo: () => boolean) => Promise.race([until(() => isSo() || undefined, PATIENCE_MS), finished]);
  const seen: Seen = {
    load,
    async more(count) {
      const before = load.answers.length;
      await waitFor(() => load.answers.length >= before + count);
    },
    async refused(count) {
      const before = load.refusals;
      await waitFor(() => load.refusals >= before + count);
    },
  };
  try {
    await seen.more(50);
    await fault(seen);
    await seen.more(50);
  } finally {
    load.over = true;
  }
  const stories = (await finished).flat();
  await settle?.();
  const tally = { answered: 0, open: 0, applied: 0 };
  await checkStories(url, { stories, from, tally });
  process.stdout.write(
    `${name}: ${tally.answered} answered, ${load.lost} lost on the way, ${load.refusals} refused, ` +
      `${tally.open} left open (${tally.applied} were done)\n`,
  );
  return load;
}

/** The time from a moment to the first success after it. */
export async function firstSuccessAfter(moment: number, { load, more }: Seen): Promise<number> {
  const isAfter = (at: number): boolean => at > moment;
  while (!load.answers.some(isAfter)) await more(1);
  return (load.answers.find(isAfter) ?? 0) - moment;
}
