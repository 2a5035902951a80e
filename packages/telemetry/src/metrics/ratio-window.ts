/** A share over the last `windowMs`, in `SLOTS` steps: old events leave one slot at a time. */
export interface RatioWindow {
  add(isPart: boolean): void;
  /** 0 when nothing happened. */
  ratio(): number;
}

const SLOTS = 12;

export function createRatioWindow(windowMs: number, now: () => number): RatioWindow {
  const slotMs = windowMs / SLOTS;
  const slots = Array.from({ length: SLOTS }, () => ({ at: Number.NEGATIVE_INFINITY, part: 0, all: 0 }));
  return {
    add(isPart) {
      const at = Math.floor(now() / slotMs);
      const slot = slots[at % SLOTS];
      if (slot === undefined) return;
      if (slot.at !== at) Object.assign(slot, { at, part: 0, all: 0 });
      slot.all += 1;
      if (isPart) slot.part += 1;
    },
    ratio() {
      const oldest = Math.floor(now() / slotMs) - SLOTS;
      let part = 0;
      let all = 0;
      for (const slot of slots) {
        if (slot.at <= oldest) continue;
        part += slot.part;
        all += slot.all;
      }
      return all === 0 ? 0 : part / all;
    },
  };
}
