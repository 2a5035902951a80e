import { describe, expect, it } from "vitest";
import type { Edit } from "../src/session/edits.ts";
import { sensitivityOf } from "../src/session/sensitive.ts";
import { createTabStorage } from "../src/session/tab-storage.ts";
import { settled } from "./simulated-server.ts";

/** A browser's storage and locks, and tabs that can be closed. */
function createBrowser() {
  const kept = new Map<string, string>();
  const listeners = new Set<(key: string) => void>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => {
      kept.set(key, value);
      for (const changed of listeners) changed(key);
    },
    removeItem: (key: string) => void kept.delete(key),
    key: (index: number) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size;
    },
  };
  const held = new Map<string, (() => void)[]>();
  function open(tabId: string, { hasLocks = true } = {}) {
    const mine: string[] = [];
    const request = async (name: string, ...rest: unknown[]) => {
      const use = rest.at(-1) as (lock: object | null) => unknown;
      const { ifAvailable = false } = (rest.length > 1 ? rest[0] : {}) as { ifAvailable?: boolean };
      if (held.has(name) && ifAvailable) return await use(null);
      while (held.has(name)) await new Promise<void>((resolve) => held.get(name)?.push(resolve));
      held.set(name, []);
      mine.push(name);
      const result = await use({ name });
      release(name);
      return result;
    };
    const release = (name: string) => {
      const waiting = held.get(name) ?? [];
      held.delete(name);
      for (const wake of waiting) wake();
    };
    const tab = createTabStorage({
      storage: () => storage,
      locks: hasLocks ? ({ request } as unknown as LockManager) : undefined,
      onChange(changed) {
        listeners.add(changed);
        return () => listeners.delete(changed);
      },
      tabId,
    });
    return { ...tab, crash: () => mine.forEach(release) };
  }
  return { kept, open };
}

const edit = (name: string, value: string): Edit => ({ path: [name], value });

/** Accepts everything, and records it. */
function taker() {
  const taken: Edit[] = [];
  const take = (edits: Edit[]) => {
    taken.push(...edits);
    return [];
  };
  return { taken, take };
}

describe("unsaved answers of tabs", () => {
  it("[PAGES-TABS] of a tab that is open are left alone", async () => {
    const browser = createBrowser();
    const one = browser.open("one");
    one.save("sub_1", [edit("a", "1")]);
    const other = browser.open("other");
    const { taken, take } = taker();
    await other.takeOver("sub_1", take);
    expect(taken).toEqual([]);
    other.save("sub_1", []);
    expect([...browser.kept.values()]).toEqual([JSON.stringify([edit("a", "1")])]);
  });

  it("[PAGES-TABS] [PAGES-RELOAD] of a tab that has crashed are taken over once, with its submission only", async () => {
    const browser = createBrowser();
    const one = browser.open("one");
    one.save("sub_1", [edit("a", "1")]);
    one.save("sub_2", [edit("a", "other submission")]);
    one.crash();
    const first = taker();
    const second = taker();
    await browser.open("two").takeOver("sub_1", first.take);
    await browser.open("three").takeOver("sub_1", second.take);
    expect(first.taken).toEqual([edit("a", "1")]);
    expect(second.taken).toEqual([]);
    expect([...browser.kept.keys()]).toEqual([expect.stringContaining("sub_2")]);
  });

  it("[PAGES-TABS] of a tab that ends later are taken over then", async () => {
    const browser = createBrowser();
    const one = browser.open("one");
    one.save("sub_1", [edit("a", "1")]);
    const { taken, take } = taker();
    await browser.open("two").takeOver("sub_1", take);
    one.save("sub_1", [edit("a", "1 and more")]);
    one.crash();
    await settled();
    expect(taken).toEqual([edit("a", "1 and more")]);
  });

  it("[PAGES-TABS] of a tab that was opened and ends later are taken over then", async () => {
    const browser = createBrowser();
    const { taken, take } = taker();
    const one = browser.open("one");
    await one.takeOver("sub_1", take);
    const two = browser.open("two");
    two.save("sub_1", [edit("a", "1")]);
    two.save("sub_1", [edit("a", "1 and more")]);
    two.save("sub_2", [edit("a", "other submission")]);
    await settled();
    expect(taken).toEqual([]);
    two.crash();
    await settled();
    expect(taken).toEqual([edit("a", "1 and more")]);
  });

  it("[PAGES-TABS] that can't be taken over now stay where they are", async () => {
    const browser = createBrowser();
    browser.open("one", { hasLocks: false }).save("sub_1", [edit("a", "1"), edit("b", "2")]);
    const two = browser.open("two", { hasLocks: false });
    await two.takeOver("sub_1", (edits) => edits.filter(({ path }) => path[0] === "a"));
    const { taken, take } = taker();
    await two.takeOver("sub_1", take);
    expect(taken).toEqual([edit("a", "1")]);
  });

  it("[PAGES-RELOAD] storage that is broken, full or forbidden does not stop anyone", async () => {
    const forbidden = createTabStorage({
      storage: () => {
        throw new DOMException("denied", "SecurityError");
      },
      locks: undefined,
    });
    forbidden.save("sub_1", [edit("a", "1")]);
    const { taken, take } = taker();
    await forbidden.takeOver("sub_1", take);
    const browser = createBrowser();
    browser.kept.set("formbridge:unsaved:sub_1:old", "{broken");
    browser.kept.set("formbridge:unsaved:sub_1:older", '[{"no":"path"},null]');
    await browser.open("one", { hasLocks: false }).takeOver("sub_1", take);
    expect(taken).toEqual([]);
  });
});

describe("what is sensitive", () => {
  const secret = { type: "string", "x-sensitive": true };
  const schema = {
    type: "object",
    properties: {
      plain: { type: "string" },
      secret,
      place: { type: "object", properties: { city: { type: "string" }, door: secret } },
      people: { type: "array", items: { type: "object", properties: { ssn: secret } } },
      names: { type: "array", items: { type: "string" } },
      card: { $ref: "#/$defs/card" },
      lost: { $ref: "#/$defs/nowhere" },
      tree: { $ref: "#/$defs/tree" },
      sealed: { type: "object", "x-sensitive": true, properties: { inside: { type: "string" } } },
      open: { type: "object", additionalProperties: { type: "string" } },
    },
    if: { properties: { plain: { const: "x" } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { extra: secret, note: { type: "string" } } },
    $defs: {
      card: { type: "object", properties: { number: secret, holder: { type: "string" } } },
      tree: { type: "object", properties: { name: { type: "string" }, child: { $ref: "#/$defs/tree" } } },
    },
  };
  it.each([
    ["secret", true],
    ["plain", false],
    ["place.city", false],
    ["place.door", true],
    ["place", true],
    ["people", true],
    ["names", false],
    ["card", true],
    ["card.number", true],
    ["card.holder", false],
    ["lost", true],
    ["tree", false],
    ["tree.child.child.name", false],
    ["sealed.inside", true],
    ["open.anything", false],
    ["extra", true],
    ["note", false],
    ["unknown", true],
  ])("[PAGES-SENSITIVE] %s: %s", (path, expected) => {
    expect(sensitivityOf(schema)(path.split("."))).toBe(expected);
  });
});
