import type { Wakeups } from "@formbridge/core";
import type { Loop } from "./every.ts";

export interface ClaimLoopOptions<Item> {
  /** Shown in errors. */
  name: string;
  wakeups: Wakeups;
  /** The `Wakeups` topic that wakes it. */
  topic: string;
  /** Notifications within this time cause one claim. */
  gatherMs: number;
  /** Becoming due by time sends no notification, so poll this often. */
  pollMs: number;
  /** How many items run at the same time. */
  atOnce: number;
  /** How long stopping waits for running items. */
  graceMs: number;
  claim(room: number): Promise<Item[]>;
  /** Returns whether more may be due at once. */
  run(item: Item, signal: AbortSignal): Promise<boolean>;
  onError(task: string, error: unknown): void;
}

export interface ClaimLoop extends Loop {
  /** Runs items until none is due, and returns how many ran. */
  drain(): Promise<number>;
}

/**
 * Claims items while there is room, and runs them concurrently.
 *
 *   notified, polled or room again ──▶ claim ──▶ run … ──▶ room again
 */
export function startClaimLoop<Item>(options: ClaimLoopOptions<Item>): ClaimLoop {
  const { name, wakeups, topic, gatherMs, pollMs, atOnce, onError } = options;
  const ending = new AbortController();
  const running = new Set<Promise<void>>();
  let claiming: Promise<number> | undefined;
  let gathering: NodeJS.Timeout | undefined;
  let isWanted = false;
  let stopped = false;

  function run(item: Item): void {
    const done = options
      .run(item, ending.signal)
      .catch((error: unknown) => {
        onError(name, error);
        return true;
      })
      .then((isMore) => {
        running.delete(done);
        if (isMore) look();
      });
    running.add(done);
  }

  async function claim(): Promise<number> {
    const room = atOnce - running.size;
    if (room <= 0) return 0;
    const claimed = await options.claim(room);
    for (const item of claimed) run(item);
    return claimed.length;
  }

  /** One claim at a time; requests during a claim share the next one. */
  function look(): void {
    isWanted = true;
    if (claiming !== undefined || stopped) return;
    isWanted = false;
    claiming = claim().catch((error: unknown) => {
      onError(name, error);
      return 0;
    });
    void claiming.then(() => {
      claiming = undefined;
      if (isWanted) look();
    });
  }

  function lookSoon(): void {
    if (gatherMs === 0) look();
    else
      gathering ??= setTimeout(() => {
        gathering = undefined;
        look();
      }, gatherMs);
  }

  const unsubscribe = wakeups.subscribe(topic, lookSoon);
  const timer = setInterval(look, pollMs);
  look();
  return {
    async drain() {
      let count = 0;
      while (true) {
        await claiming;
        const claimed = await claim();
        // Items that the loop itself is claiming aren't running yet.
        if (claimed === 0 && running.size === 0 && claiming === undefined) return count;
        count += claimed;
        await Promise.all(running);
      }
    },
    async stop() {
      stopped = true;
      unsubscribe();
      clearInterval(timer);
      clearTimeout(gathering);
      const grace = setTimeout(() => ending.abort(), options.graceMs);
      await claiming;
      await Promise.all(running);
      clearTimeout(grace);
    },
  };
}
