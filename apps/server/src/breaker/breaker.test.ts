import { CallRefused, type Health, StoreDown } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { type BreakerOptions, createBreaker } from "./breaker.ts";

const HEALTHY: Health = { healthy: true, latencyMs: 1, clockSkewMs: 3 };
const SICK: Health = { healthy: false, latencyMs: 2, detail: "gone" };

/** A clock whose tasks run when the test advances it. */
function handClock() {
  let now = 0;
  const tasks = new Set<{ task: () => void; at: number }>();
  const later: BreakerOptions["later"] = (task, ms) => {
    const entry = { task, at: now + ms };
    tasks.add(entry);
    return () => tasks.delete(entry);
  };
  async function pass(ms: number): Promise<void> {
    now += ms;
    for (const entry of [...tasks].filter(({ at }) => at <= now)) {
      tasks.delete(entry);
      entry.task();
    }
    // The promises are settled; let their callbacks run.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
  return { later, pass, waiting: () => tasks.size };
}

function scene(options: Partial<BreakerOptions> = {}) {
  const clock = handClock();
  const state = { health: HEALTHY, probes: 0, calls: 0, notes: [] as string[] };
  const breaker = createBreaker({
    later: clock.later,
    probe: async () => {
      state.probes += 1;
      return state.health;
    },
    notes: {
      opened: (access) => state.notes.push(`${access} opened`),
      closed: (access) => state.notes.push(`${access} closed`),
    },
    ...options,
  });
  const call = (access: "read" | "write", error?: Error): Promise<string> =>
    breaker
      .guard(access, async () => {
        state.calls += 1;
        if (error !== undefined) throw error;
        return "done";
      })
      .catch((thrown: unknown) => String(thrown));
  const fail = async (access: "read" | "write", times: number): Promise<void> => {
    for (let time = 0; time < times; time++) await call(access, new StoreDown("no", "unknown"));
  };
  return { ...clock, state, breaker, call, fail };
}

describe("opening", () => {
  it("opens at the fifth failure in a row, and calls the backend no more", async () => {
    const { state, call, fail } = scene();
    await fail("read", 4);
    expect(await call("read")).toBe("done");
    await fail("read", 5);
    expect(state.calls).toBe(10);
    expect(await call("read")).toMatch(/not called/);
    expect(await call("write")).toMatch(/not called/);
    expect(state.calls).toBe(10);
    expect(state.notes).toEqual(["read opened"]);
  });

  it("counts only failures of the store: neither our own errors nor a call that the store refused", async () => {
    const { call } = scene();
    for (let time = 0; time < 10; time++) {
      await call("read", new TypeError("ours"));
      await call("write", new CallRefused("locked"));
    }
    expect(await call("read")).toBe("done");
    expect(await call("write")).toBe("done");
  });

  it("reads may still succeed when writes fail", async () => {
    const { call, fail, breaker, state } = scene();
    for (let time = 0; time < 5; time++) {
      expect(await call("read")).toBe("done");
      await fail("write", 1);
    }
    expect(await call("write")).toMatch(/not called/);
    expect(await call("read")).toBe("done");
    expect(await breaker.health()).toMatchObject({ healthy: false, detail: "no" });
    expect(state.notes).toEqual(["write opened"]);
  });

  it("reports that nothing was done while it is open, and passes unknown outcomes through", async () => {
    const { breaker } = scene({ failures: 1 });
    const down = new StoreDown("hung", "unknown");
    await expect(breaker.guard("write", () => Promise.reject(down))).rejects.toBe(down);
    await expect(breaker.guard("write", async () => {})).rejects.toMatchObject({ outcome: "not_applied" });
  });
});

describe("probing", () => {
  it("probes once a second until the backend is healthy, then closes", async () => {
    const { state, call, fail, pass, breaker } = scene();
    state.health = SICK;
    await fail("read", 5);
    expect(state.probes).toBe(0);
    await pass(1_000);
    await pass(1_000);
    expect(state.probes).toBe(2);
    expect(await breaker.health()).toEqual(SICK);
    expect(state.probes).toBe(2);
    state.health = HEALTHY;
    expect(await call("read")).toMatch(/not called/);
    await pass(1_000);
    expect(await call("read")).toBe("done");
    expect(await breaker.health()).toEqual(HEALTHY);
    expect(state.notes).toEqual(["read opened", "read closed"]);
  });

  it("starts counting from zero after it has closed", async () => {
    const { call, fail, pass } = scene();
    await fail("read", 5);
    await pass(1_000);
    await fail("read", 4);
    expect(await call("read")).toBe("done");
  });

  it("a backend that hangs is unhealthy, and the next probe is still made", async () => {
    let probes = 0;
    const { call, fail, pass, breaker } = scene({
      probe: () => {
        probes += 1;
        return probes < 3 ? new Promise(() => {}) : Promise.resolve(HEALTHY);
      },
    });
    await fail("read", 5);
    await pass(1_000);
    await pass(1_000);
    expect(await breaker.health()).toMatchObject({ healthy: false, detail: "no response within 1000 ms" });
    await pass(0);
    await pass(1_000);
    await pass(0);
    expect(probes).toBe(3);
    expect(await call("read")).toBe("done");
  });

  it("stops when asked to", async () => {
    const { state, fail, pass, breaker, waiting } = scene();
    state.health = SICK;
    await fail("read", 5);
    breaker.stop();
    expect(waiting()).toBe(0);
    await pass(5_000);
    expect(state.probes).toBe(0);
  });
});
