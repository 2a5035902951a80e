import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import axe, { type AxeResults } from "axe-core";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { handOff } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { type OtherSite, startOtherSite } from "../support/other-site.ts";
import { ROOT, read } from "../support/pages.ts";
import { create } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let site: OtherSite;
let page: Page;
let refused: string[];
let complaints: string[];

beforeAll(async () => {
  const env = { FORMBRIDGE_INTAKES: "examples/intakes" };
  [server, browser] = await Promise.all([startTestServer({ env, fakeClock: false }), openBrowser()]);
  site = await startOtherSite(server.url);
  site.files["/heard.js"] = HEARD;
});
afterEach(() => page?.context().close());
afterAll(async () => {
  await browser?.close();
  await site?.stop();
  await server?.stop();
});

/** The site's own script: records the events of the forms. */
const HEARD = `globalThis.heard = [];
for (const kind of ["ready", "saved", "completed", "refused", "submitted", "error"]) {
  addEventListener("formbridge-" + kind, ({ type, target, detail }) => heard.push({ event: type, id: target.id, ...detail }));
}`;

const pageWith = (body: string, css = ""): Record<string, string> => ({
  "/page.html": `<!doctype html><html lang="en"><title>Site</title><link rel="stylesheet" href="page.css" />
<script src="heard.js"></script><script type="module" src="${server.url}/embed.js"></script>
<main><h1>Somebody else's page</h1><p id="own">Their text</p>${body}</main>`,
  "/page.css": css,
});

async function open(files: Record<string, string>): Promise<void> {
  Object.assign(site.files, files);
  ({ page, refused } = await openPage(browser));
  complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("favicon")) complaints.push(message.text());
  });
  await page.goto(`${site.url}/page.html`);
}

const heard = (): Promise<Loose[]> => page.evaluate(() => (globalThis as unknown as { heard: Loose[] }).heard);
const heardOf = async (type: string): Promise<Loose[]> =>
  (await heard()).filter(({ event }) => event === `formbridge-${type}`);
const byId = async (id: string): Promise<Loose> =>
  (await server.call("GET", `/submissions/${id}`, { key: server.adminKey })).body;
const count = async (): Promise<number> =>
  (await server.call("GET", "/submissions?limit=1000", { key: server.adminKey })).body.items.length;

interface Styled {
  getComputedStyle(element: unknown): { getPropertyValue(name: string): string };
}
/** What a browser computes for one element. */
const styleOf = (locator: Locator, property: string): Promise<string> =>
  locator.evaluate(
    (element, name) => (globalThis as unknown as Styled).getComputedStyle(element).getPropertyValue(name),
    property,
  );

async function axeFinds(): Promise<unknown[]> {
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate<AxeResults>("axe.run()");
  expect(passes.length).toBeGreaterThan(0);
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

const eventually = <T>(look: () => Promise<T>) => expect.poll(look, { timeout: 20_000 });

const nothingWrong = (): void => expect([refused, complaints]).toEqual([[], []]);

describe("the form in somebody else's page", () => {
  it("[EMBED-ELEMENT] [EMBED-EVENTS] a public intake begins with the first answer and is submitted, under a strict policy", async () => {
    const before = await count();
    await open(pageWith(`<formbridge-form id="one" intake="contact"></formbridge-form>`));
    await page.getByLabel("Your name").waitFor();
    expect(await axeFinds()).toEqual([]);
    expect(await count()).toBe(before);
    await page.getByLabel("Your name").fill("Ada");
    await eventually(async () => (await heardOf("saved")).length).toBe(1);
    await page.getByRole("button", { name: "Check and submit" }).click();
    await eventually(async () => (await heardOf("refused")).length).toBe(1);
    expect(await axeFinds()).toEqual([]);
    await page.getByLabel("Email").fill("ada@example.com");
    await page.getByLabel("Message").fill("Hello there, this is Ada.");
    await page.getByRole("button", { name: "Check and submit" }).click();
    await page.getByRole("button", { name: "Submit", exact: true }).click();
    await page.getByText("Thank you. Your answers were sent.").waitFor();
    expect(await count()).toBe(before + 1);
    const [submitted] = await heardOf("submitted");
    expect(submitted).toEqual({
      event: "formbridge-submitted",
      id: "one",
      submissionId: expect.stringMatching(/^sub_/),
      state: expect.any(String),
    });
    expect((await byId(submitted.submissionId)).fields).toMatchObject({ email: "ada@example.com" });
    expect(JSON.stringify(await heard())).not.toMatch(/rtok_|sess_|idem_|Ada|example\.com/);
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toMatch(/rtok_|sess_/);
    nothingWrong();
  });

  it("[EMBED-ISOLATED] styles leak neither in nor out, and custom properties change the look", async () => {
    const css = `* { color: rgb(255, 0, 0); letter-spacing: 9px; text-transform: uppercase; font-family: monospace }
input, button, label { display: none } .fb-button { opacity: 0.1 }
formbridge-form { --fb-accent: rgb(1, 120, 3); --fb-radius: 1px }`;
    await open(pageWith(`<formbridge-form intake="contact"></formbridge-form>`, css));
    const name = page.getByLabel("Your name");
    await name.waitFor();
    expect(await styleOf(name, "letter-spacing")).toBe("normal");
    expect(await styleOf(name, "text-transform")).toBe("none");
    expect(await styleOf(name, "color")).not.toBe("rgb(255, 0, 0)");
    expect(await styleOf(name, "font-family")).not.toBe("monospace");
    expect(await styleOf(name, "border-top-left-radius")).toBe("1px");
    const button = page.getByRole("button", { name: "Check and submit" });
    expect(await styleOf(button, "background-color")).toBe("rgb(1, 120, 3)");
    expect(await styleOf(button, "opacity")).toBe("1");
    const own = page.locator("#own");
    expect(await styleOf(own, "color")).toBe("rgb(255, 0, 0)");
    expect(await styleOf(own, "max-inline-size")).toBe("none");
    expect(
      await page.evaluate("[document.adoptedStyleSheets.length, document.querySelectorAll('style').length]"),
    ).toEqual([0, 0]);
    nothingWrong();
  });

  it("[EMBED-CARRIERS] two elements work side by side: one by token, one by the link of a hand-off, in their languages", async () => {
    const one = await create(server, "contact", { fields: { name: "Ada" } });
    const two = await create(server, "contact", { fields: { name: "Grace" } });
    const { url } = await handOff(server, two.resumeToken, { message: "Please finish" });
    await open(
      pageWith(`<formbridge-form id="one" token="${one.resumeToken}" lang="en"></formbridge-form>
<formbridge-form id="two" link="${url}" lang="he"></formbridge-form>`),
    );
    const [first, second] = [page.locator("#one"), page.locator("#two")];
    await eventually(() => first.locator("[data-path=name] input").inputValue()).toBe("Ada");
    await eventually(() => second.locator("[data-path=name] input").inputValue()).toBe("Grace");
    expect(await second.locator(".pg-inline").getAttribute("dir")).toBe("rtl");
    await first.locator("[data-path=email]").getByRole("textbox").fill("ada@example.com");
    await second.locator("[data-path=email]").getByRole("textbox").fill("grace@example.com");
    await eventually(async () => (await heardOf("saved")).map(({ id }) => id).sort()).toEqual(["one", "two"]);
    expect((await byId(one.submissionId)).fields.email).toBe("ada@example.com");
    const record = await byId(two.submissionId);
    expect(record.fields.email).toBe("grace@example.com");
    expect(record.attribution.email.actor).toMatchObject({ kind: "human", proof: "link" });
    expect(await page.context().cookies()).toEqual([]);
    expect(await axeFinds()).toEqual([]);
    nothingWrong();
  });

  it("[EMBED-EVENTS] a link that opens nothing shows why, and an event reports it", async () => {
    await open(pageWith(`<formbridge-form id="one" token="rtok_${"A".repeat(43)}"></formbridge-form>`));
    await eventually(async () => await heardOf("error")).toMatchObject([{ id: "one", type: "token_invalid" }]);
    await page.getByRole("heading", { name: "This link is not complete" }).waitFor();
    expect(JSON.stringify(await heard())).not.toContain("rtok_");
  });

  it("[EMBED-ELEMENT] the page that the documentation shows works as it is", async () => {
    const names = ["page.html", "page.js", "page.css"];
    const file = (name: string) =>
      read(`examples/embed-form/${name}`).replaceAll("https://intake.example.com", server.url);
    await open(Object.fromEntries(names.map((name) => [`/${name}`, file(name)])));
    await page.getByLabel("Your name").fill("Ada");
    await page.getByLabel("Email").fill("ada@example.com");
    await page.getByLabel("Message").fill("Hello there, this is Ada.");
    await page.getByRole("button", { name: "Check and submit" }).click();
    await page.getByRole("button", { name: "Submit", exact: true }).click();
    await page.getByText(/Thank you! Your reference is sub_/).waitFor();
    nothingWrong();
  });

  it("[EMBED-SIZE] everything that the script tag loads is at most 95 kB, compressed", () => {
    const dist = (name: string): string => readFileSync(join(ROOT, "apps/web/dist", name), "utf8");
    const loaded = new Map<string, string>([["embed.js", dist("embed.js")]]);
    for (const [, text] of loaded) {
      const names = text.matchAll(/(?:from\s*|import\s*\(?\s*)["'`]\.\/(?:assets\/)?([\w-]+\.js)["'`]/g);
      // Languages are loaded one at a time, when they are needed.
      for (const [, name = ""] of names)
        if (!/^[a-z]{2}-/.test(name) || name.startsWith("en-")) loaded.set(name, dist(name));
    }
    const bytes = [...loaded.values()].map((text) => gzipSync(text).length);
    expect(loaded.size).toBeGreaterThan(1);
    expect(bytes.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(95_000);
  });
});
