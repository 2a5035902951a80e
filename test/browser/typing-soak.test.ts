import { randomInt } from "node:crypto";
import { createClient, type FormBridgeClient, type Submission } from "@formbridge/client";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";

const SOAK_MS = process.env.FORMBRIDGE_LONG === undefined ? 12_000 : 240_000;
const RESTART_MS = 4_000;
const AGENT_MS = 50;

const text = { type: "string" };
const SCHEMA = {
  type: "object",
  properties: {
    a: text,
    b: text,
    place: { type: "object", properties: { city: text, street: text, zip: text } },
    names: { type: "array", items: text },
    // These are the agent's.
    x: text,
    y: { type: "number" },
    marks: { type: "array", items: text },
  },
};

const ADMIN_KEY = `fbk_${"s".repeat(43)}`;
const folder = tempFolder();
let server: ServerProcess;
let browser: Browser;
let client: FormBridgeClient;
let shared: Submission;

const start = (port: string): Promise<ServerProcess> =>
  startServerProcess({
    FORMBRIDGE_PORT: port,
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
    FORMBRIDGE_RATE_LIMIT: "off",
  });

beforeAll(async () => {
  [server, browser] = await Promise.all([start("0"), openBrowser()]);
  client = createClient({ url: server.url, apiKey: ADMIN_KEY, retry: { baseDelayMs: 50, maxDelayMs: 200 } });
  await client.request({
    method: "PUT",
    path: "/intakes/soak",
    route: "/intakes/{id}",
    body: {
      id: "soak",
      version: "1",
      name: "Soak",
      access: "public",
      schema: SCHEMA,
      destination: { kind: "store" },
    },
    repeatable: true,
  });
  shared = await client.create("soak", { names: ["first", "second"] });
});
afterAll(async () => {
  await browser?.close();
  await server?.kill();
  folder.remove();
});

/** An agent that writes twenty times a second, in its own fields, and ignores outages. */
async function writeAlways(submission: Submission, stopped: AbortSignal): Promise<number> {
  let written = 0;
  for (let count = 1; !stopped.aborted; count++) {
    const began = performance.now();
    const marks = Array.from({ length: count % 4 }, (_, index) => `mark ${count} ${index}`);
    const patch = [{ x: `x${count}` }, { y: count }, { "place.zip": `z${count}` }, { marks }][count % 4] ?? {};
    await submission.set(patch, { mergeTries: 20 }).then(
      () => {
        written += 1;
      },
      () => {},
    );
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, AGENT_MS - (performance.now() - began))));
  }
  return written;
}

async function restartAlways(stopped: AbortSignal): Promise<number> {
  let restarts = 0;
  const { port } = new URL(server.url);
  while (true) {
    for (let waited = 0; waited < RESTART_MS && !stopped.aborted; waited += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    if (stopped.aborted) return restarts;
    await server.kill();
    server = await start(port);
    restarts += 1;
  }
}

/** The state of a text box in the page. */
interface Input {
  value: string;
  selectionStart: number;
  setSelectionRange(start: number, end: number): void;
  matches(selector: string): boolean;
}

interface Box {
  control: Locator;
  text: string;
}

/** Types as people do: somewhere in the text, a few letters, sometimes a backspace. Checks what it has typed. */
class Typist {
  readonly boxes: Record<string, Box>;
  readonly #page: Page;
  #at: { box: Box; caret: number } | undefined;

  constructor(page: Page) {
    this.#page = page;
    const box = (path: string, known = ""): Box => ({
      control: page.locator(`[data-path="${path}"] input`).first(),
      text: known,
    });
    const item = (number: number, known: string): Box => ({
      control: page.locator(`[data-path="names"] li:nth-child(${number}) input`).first(),
      text: known,
    });
    this.boxes = {
      a: box("a"),
      b: box("b"),
      city: box("place.city"),
      street: box("place.street"),
      first: item(1, "first"),
      second: item(2, "second"),
    };
  }

  async type(): Promise<void> {
    if (this.#at === undefined || randomInt(3) === 0) await this.#goSomewhere();
    const at = this.#at;
    if (at === undefined) return;
    const letters = Array.from({ length: 1 + randomInt(8) }, () => "abcdefghij klmnop"[randomInt(17)]).join("");
    await this.#page.keyboard.type(letters, { delay: randomInt(25) });
    at.box.text = at.box.text.slice(0, at.caret) + letters + at.box.text.slice(at.caret);
    at.caret += letters.length;
    if (randomInt(4) === 0) {
      await this.#page.keyboard.press("Backspace");
      at.box.text = at.box.text.slice(0, at.caret - 1) + at.box.text.slice(at.caret);
      at.caret -= 1;
    }
    await this.look();
  }

  async #goSomewhere(): Promise<void> {
    const all = Object.values(this.boxes);
    const box = all[randomInt(all.length)];
    if (box === undefined) return;
    await box.control.focus();
    const caret = randomInt(box.text.length + 1);
    await box.control.evaluate((input: Input, place: number) => input.setSelectionRange(place, place), caret);
    this.#at = { box, caret };
  }

  /** The focus and the caret are where they were, and nothing typed is lost. */
  async look(): Promise<void> {
    const at = this.#at;
    if (at === undefined) return;
    const seen = await at.box.control.evaluate((input: Input) => ({
      hasFocus: input.matches(":focus"),
      text: input.value,
      caret: input.selectionStart,
    }));
    expect(seen).toEqual({ hasFocus: true, text: at.box.text, caret: at.caret });
  }

  /** What the server must have once everything is shown as saved. */
  expected(): object {
    const { a, b, city, street, first, second } = this.boxes;
    const said = (box: Box | undefined) => (box?.text ? box.text : undefined);
    return {
      a: said(a),
      b: said(b),
      city: said(city),
      street: said(street),
      names: [said(first), said(second)],
    };
  }
}

async function stored(): Promise<object> {
  const reader = client.submission({ submissionId: shared.id });
  const { fields = {} } = await reader.read();
  const { a, b, place = {}, names } = fields as { a?: string; b?: string; place?: Record<string, string>; names?: [] };
  return { a, b, city: place.city, street: place.street, names };
}

const savedIn = (page: Page, timeout: number) => page.getByText("All changes are saved").waitFor({ timeout });

describe("typing while an agent writes and the server restarts", () => {
  it("[PAGES-TYPING-SOAK] everything shown as saved is stored, and neither focus nor caret move", {
    timeout: SOAK_MS + 90_000,
  }, async () => {
    const { url } = await shared.handOff();
    const { page, refused } = await openPage(browser);
    await page.goto(url);
    await page.getByRole("heading", { name: "Soak" }).waitFor();
    const typist = new Typist(page);
    const stop = new AbortController();
    const agent = client.submission({ submissionId: shared.id });
    await agent.read();
    const writing = writeAlways(agent, stop.signal);
    const restarting = restartAlways(stop.signal);
    const until = performance.now() + SOAK_MS;
    try {
      while (performance.now() < until) {
        for (let bursts = 1 + randomInt(6); bursts > 0; bursts--) await typist.type();
        if (randomInt(3) > 0) continue;
        const isSaved = await savedIn(page, 1_500).then(
          () => true,
          () => false,
        );
        // What is shown as saved is stored: the server may be down now, but the next one has it.
        if (isSaved) expect(await retried(stored)).toEqual(typist.expected());
        await typist.look();
      }
    } finally {
      stop.abort();
      await Promise.all([writing, restarting]);
    }
    await savedIn(page, 60_000);
    await typist.look();
    expect(await stored()).toEqual(typist.expected());
    // The page wrote what the typist typed, and nothing else.
    const { attribution = {}, createdBy } = await client.submission({ submissionId: shared.id }).read();
    const byAgent = Object.keys(attribution).filter((path) => attribution[path]?.actor.id === createdBy.id);
    expect(byAgent).toEqual(expect.arrayContaining(["place.zip", "x", "y"]));
    expect(createdBy.id).not.toBe(attribution.a?.actor.id);
    expect(await page.locator(".fb-conflict").count()).toBe(0);
    expect(await writing).toBeGreaterThan(20);
    expect(await restarting).toBeGreaterThan(0);
    expect(refused).toEqual([]);
    await page.context().close();
  });
});

async function retried<Value>(read: () => Promise<Value>): Promise<Value> {
  const { promise, resolve } = Promise.withResolvers<Value>();
  const attempt = (): void => void read().then(resolve, () => setTimeout(attempt, 100));
  attempt();
  return await promise;
}
