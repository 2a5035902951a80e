import type { AlarmWindows, Instant, Mark } from "@formbridge/core";

interface Window {
  /** Members in the order in which they were last seen. */
  members: Map<string, Instant>;
  endsAt: Instant;
}

/** Beyond this many windows the one that was used least recently is forgotten, so that a flood can't exhaust memory. */
const MAX_WINDOWS = 20_000;

/** Windows of one process. */
export function createMemoryAlarmWindows({ maxWindows = MAX_WINDOWS }: { maxWindows?: number } = {}): AlarmWindows {
  const windows = new Map<string, Window>();

  function add({ window: name, member, at, windowMs, atMost }: Mark): void {
    const { members, endsAt } = windows.get(name) ?? { members: new Map<string, Instant>(), endsAt: 0 };
    const seenAt = Math.max(at, members.get(member) ?? at);
    members.delete(member);
    members.set(member, seenAt);
    for (const [known, last] of members) if (members.size > atMost || last <= at - windowMs) members.delete(known);
    windows.delete(name);
    windows.set(name, { members, endsAt: Math.max(endsAt, at + windowMs) });
    for (const [oldest, { endsAt: over }] of windows) {
      if (windows.size <= maxWindows && over > at) break;
      windows.delete(oldest);
    }
  }

  const count = ({ window, at, windowMs, atMost }: Mark): number =>
    Math.min(atMost, [...(windows.get(window)?.members.values() ?? [])].filter((last) => last > at - windowMs).length);

  return {
    add: async (marks) => {
      for (const mark of marks) add(mark);
      return marks.map(count);
    },
  };
}
