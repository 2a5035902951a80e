import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pruned } from "../src/engine/changes.ts";
import type { Edit } from "../src/session/edits.ts";
import { FormSession } from "../src/session/form-session.ts";
import { memoryStorage } from "./memory-storage.ts";
import { at, SimulatedServer, settled } from "./simulated-server.ts";

const PATHS = [["a"], ["b"], ["place", "city"], ["place", "street"], ["list"]] as const;
const KINDS = [
  "type",
  "type",
  "begin",
  "agent",
  "agent",
  "deliver",
  "deliver",
  "deliver",
  "deliver",
  "lose",
  "tick",
  "tick",
  "tick",
  "restart",
  "mine",
  "theirs",
  "focus",
  "blur",
  "reload",
] as const;

/** A person at a page, who remembers what they saw and typed. */
class Person {
  readonly server = new SimulatedServer();
  readonly storage = memoryStorage();
  /** What they typed last, unless they chose the other value. */
  readonly typed = new Map<string, unknown>();
  /** What they saw before they overwrote it. */
  readonly seen = new Set<string>();
  readonly begun = new Set<string>();
  session!: FormSession;
  #count = 0;

  async open(): Promise<void> {
    const { server, storage } = this;
    const submission = server.client().submission({ submissionId: "sub_1" });
    const opening = FormSession.open({ submission, storage, later: server.later });
    await settled();
    while (server.steps.length > 0 && !(await isDone(opening))) {
      server.steps.shift()?.deliver();
      await settled();
    }
    this.session = await opening;
  }

  next(path: readonly string[], by: string): unknown {
    const value = `${by}${++this.#count}`;
    return path[0] === "list" ? ["same", value] : value;
  }

  begin(path: readonly string[]): void {
    const over = at(this.session.state.fields, path.join("."));
    if (this.begun.has(path.join("."))) return;
    if (path[0] === "list") this.session.focus(["list"]);
    this.begun.add(path.join("."));
    if (this.#editAt(path) === undefined) this.seen.add(JSON.stringify(over ?? null));
    this.session.begin({ path: path[0] === "list" ? ["list", 1] : path, over });
  }

  type(path: readonly string[]): void {
    const key = path.join(".");
    const value = this.next(path, "p");
    // A field in use is not redrawn: the person saw what was there when they began.
    if (!this.begun.delete(key) && this.#editAt(path) === undefined) {
      this.seen.add(JSON.stringify(at(this.session.state.fields, key) ?? null));
    }
    this.typed.set(key, value);
    this.session.edit([{ path, value }]);
  }

  choose(choice: "mine" | "theirs"): void {
    const [conflict] = this.session.state.conflicts;
    if (conflict === undefined) return;
    this.seen.add(JSON.stringify(conflict.theirs?.value ?? null));
    if (choice === "theirs") this.typed.delete(conflict.path.join("."));
    this.session.choose(conflict.path, choice);
  }

  async reload(): Promise<void> {
    this.session.close();
    this.begun.clear();
    await settled();
    this.server.timers.splice(0);
    // Requests in flight arrive, though nobody waits for their responses.
    for (const step of this.server.steps.splice(0)) step.deliver();
    this.server.restart();
    await this.open();
  }

  #editAt(path: readonly string[]): Edit | undefined {
    return JSON.parse(this.storage.kept).find((edit: Edit) => edit.path.join(".") === path.join("."));
  }

  /** Everything that was typed is stored, or was stored before somebody else saw and changed it. */
  assertStored(): void {
    for (const [path, value] of this.typed) {
      const stored = this.server.commits.filter((commit) => commit.by === "person" && commit.path === path);
      expect(stored.map((commit) => commit.value)).toContainEqual(value);
    }
  }

  /** Whatever a write of this person replaced was their own, or had been shown to them. */
  assertNothingOverwritten(): void {
    for (const { by, before, path } of this.server.commits) {
      if (by !== "person" || before === undefined || JSON.stringify(before).includes("p")) continue;
      expect([...this.seen], `${path} ${JSON.stringify(before)}`).toContain(JSON.stringify(before));
    }
  }
}

const isDone = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), Promise.resolve(false)]);

async function act(person: Person, kind: (typeof KINDS)[number], n: number): Promise<void> {
  const { server, session } = person;
  const path = PATHS[n % PATHS.length] ?? ["a"];
  const step = n % Math.max(1, server.steps.length);
  if (kind === "type") person.type(path);
  else if (kind === "begin") person.begin(path);
  else if (kind === "agent") server.write("agent", { [path.join(".")]: person.next(path, "x") });
  else if (kind === "deliver") server.steps.splice(step, 1)[0]?.deliver();
  else if (kind === "lose") server.steps.splice(step, 1)[0]?.lose();
  else if (kind === "tick") server.timers.splice(n % Math.max(1, server.timers.length), 1)[0]?.();
  else if (kind === "restart") server.restart();
  else if (kind === "mine" || kind === "theirs") person.choose(kind);
  else if (kind === "focus") session.focus(["list"]);
  else if (kind === "blur") {
    // What was typed is reported when the field is left.
    if (person.begun.has("list")) person.type(["list"]);
    session.focus(undefined);
  } else await person.reload();
  await settled();
}

/** The network works again, and the person answers every question. */
async function heal(person: Person): Promise<void> {
  const { server } = person;
  for (const path of [...person.begun]) person.type(path.split("."));
  person.session.focus(undefined);
  for (let round = 0; round < 300; round++) {
    for (const step of server.steps.splice(0)) step.deliver();
    await settled();
    for (const timer of server.timers.splice(0)) timer();
    await settled();
    if (round % 5 === 4) person.choose(round % 2 === 0 ? "mine" : "theirs");
    const { saving, conflicts } = person.session.state;
    if (saving === "saved" && conflicts.length === 0 && round > 20) break;
  }
  await settled();
}

describe("a form session on a network that loses and reorders", () => {
  const runs = process.env.FORMBRIDGE_LONG === undefined ? 60 : 2_000;
  it("[PAGES-TOGETHER] [PAGES-NOTHING-LOST] loses nothing typed, overwrites nothing unseen, and ends in the server's state", async () => {
    const step = fc.tuple(fc.constantFrom(...KINDS), fc.nat(20));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const person = new Person();
        await person.open();
        for (const [kind, n] of steps) {
          await act(person, kind, n);
          person.assertNothingOverwritten();
          if (person.session.state.saving === "saved") person.assertStored();
        }
        await heal(person);
        const { saving, fields, ended } = person.session.state;
        expect({ saving, ended }).toEqual({ saving: "saved", ended: undefined });
        person.assertStored();
        person.assertNothingOverwritten();
        expect(pruned(fields)).toEqual(pruned(person.server.fields));
        expect(person.storage.kept).toBe("[]");
        person.session.close();
      }),
      { numRuns: runs, ...(process.env.FC_SEED && { seed: Number(process.env.FC_SEED) }) },
    );
  });
});
