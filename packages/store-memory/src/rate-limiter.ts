import type { Instant, RateLimiter, RateRule } from "@formbridge/core";

interface Window {
  endsAt: Instant;
  hits: number;
}

/** Beyond this many subjects a rule forgets the oldest, so that a flood of addresses can't exhaust memory. */
const MAX_SUBJECTS = 100_000;

/** Fixed windows, one per rule and subject, in this process only. A window starts with its first hit. */
export function createMemoryRateLimiter({ now }: { now: () => Instant }): RateLimiter {
  const rules = new Map<string, Map<string, Window>>();

  function windowsOf(rule: RateRule): Map<string, Window> {
    const windows = rules.get(rule.name) ?? new Map<string, Window>();
    rules.set(rule.name, windows);
    return windows;
  }

  function running(windows: Map<string, Window>, subject: string): Window | undefined {
    const window = windows.get(subject);
    return window !== undefined && window.endsAt > now() ? window : undefined;
  }

  function start(windows: Map<string, Window>, subject: string, rule: RateRule): Window {
    const window = { endsAt: now() + rule.windowMs, hits: 0 };
    windows.delete(subject);
    windows.set(subject, window);
    return window;
  }

  return {
    hit: async (rule, subject, weight = 1) => {
      const windows = windowsOf(rule);
      forgetIdle(windows, now());
      const window = running(windows, subject) ?? start(windows, subject, rule);
      window.hits += weight;
      const remaining = Math.max(0, rule.limit - window.hits);
      return { rule, allowed: window.hits <= rule.limit, remaining, resetMs: window.endsAt - now() };
    },
    peek: async (rule, subject) => {
      const window = running(windowsOf(rule), subject) ?? { endsAt: now() + rule.windowMs, hits: 0 };
      const remaining = Math.max(0, rule.limit - window.hits);
      return { rule, allowed: remaining > 0, remaining, resetMs: window.endsAt - now() };
    },
  };
}

/** Windows of one rule end in the order in which they began, which is the map's order. */
function forgetIdle(windows: Map<string, Window>, now: Instant): void {
  for (const [subject, { endsAt }] of windows) {
    if (endsAt > now && windows.size < MAX_SUBJECTS) return;
    windows.delete(subject);
  }
}
