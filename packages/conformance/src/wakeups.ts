import type { Wakeups } from "@formbridge/core";
import { describe, expect, it, vi } from "vitest";

export function describeWakeups(open: () => Wakeups): void {
  describe("wakeups", () => {
    it("wake every reader of that submission, every time, and nobody else", async () => {
      const wakeups = open();
      const [one, two, other] = [vi.fn(), vi.fn(), vi.fn()];
      wakeups.subscribe("sub_1", one);
      wakeups.subscribe("sub_1", two);
      wakeups.subscribe("sub_2", other);
      wakeups.notify("sub_1");
      wakeups.notify("sub_1");
      await vi.waitFor(() => expect(two).toHaveBeenCalledTimes(2));
      expect(one).toHaveBeenCalledTimes(2);
      expect(other).not.toHaveBeenCalled();
    });

    it("stop for the one subscription that was ended", async () => {
      const wakeups = open();
      const wake = vi.fn();
      const stop = wakeups.subscribe("sub_1", wake);
      wakeups.subscribe("sub_1", wake);
      stop();
      stop();
      wakeups.notify("sub_1");
      await vi.waitFor(() => expect(wake).toHaveBeenCalledTimes(1));
    });

    it("can be subscribed again after everyone has unsubscribed", async () => {
      const wakeups = open();
      wakeups.subscribe("sub_1", () => {})();
      const wake = vi.fn();
      wakeups.subscribe("sub_1", wake);
      wakeups.notify("sub_1");
      await vi.waitFor(() => expect(wake).toHaveBeenCalledTimes(1));
    });

    it("accept a notification that nobody waits for", () => {
      expect(() => open().notify("sub_nobody")).not.toThrow();
    });
  });
}
