/** What people meet apart from the normal case: broken uploads, a second tab, two people in one list, bad networks. */
import { createHash } from "node:crypto";
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { axeInBothSchemes } from "../support/axe.ts";
import { openBrowser, openPage } from "../support/browser.ts";
import { handOff } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { create, filled, record } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let server: TestServer;
let browser: Browser;
let page: Page;
let refused: string[];

const text = (title: string) => ({ type: "string", title });
const SCHEMA = {
  type: "object",
  properties: {
    name: text("Name"),
    city: text("City"),
    names: { type: "array", title: "Guest", items: { type: "string" } },
    scan: { title: "Scan", "x-file": { accept: ["application/octet-stream"], maxBytes: 20_000_000 } },
    country: { title: "Country", enum: Array.from({ length: 5000 }, (_, index) => `Country ${index + 1}`) },
  },
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false }), openBrowser()]);
  await server.putIntake({ id: "order", name: "Order", schema: SCHEMA as never });
});
afterEach(() => page?.context().close());
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function open(fields: Loose = {}): Promise<Loose> {
  const made = await create(server, "order", { fields });
  const { url } = await handOff(server, made.resumeToken);
  ({ page, refused } = await openPage(browser));
  await page.goto(url);
  await page.getByLabel("Name").waitFor();
  return { ...made, url };
}

const button = (name: string) => page.getByRole("button", { name, exact: true });
const saved = (where = page) => where.getByText("All changes are saved").waitFor({ timeout: 60_000 });
const fieldsOf = async (submissionId: string): Promise<Loose> => (await record(server, submissionId)).fields;

describe("a file being uploaded", () => {
  // Two chunks, of no recognizable file type.
  const bytes = Buffer.alloc(4_500_000, 0x01);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const chosen = { name: "scan.bin", mimeType: "application/octet-stream", buffer: bytes };
  const arrived = (submissionId: string) =>
    expect.poll(async () => (await fieldsOf(submissionId)).scan?.sha256, { timeout: 60_000 }).toBe(sha256);

  it("[PAGES-UPLOADS] can be paused in the middle and continues from there", async () => {
    const { submissionId } = await open();
    const sent: string[] = [];
    let held: Route | undefined;
    await page.route("**/*", async (route) => {
      const request = route.request();
      if (request.method() !== "PATCH" || request.headers()["upload-offset"] === undefined)
        return await route.fallback();
      sent.push(String(request.headers()["upload-offset"]));
      if (sent.length === 2) held = route;
      else await route.fallback();
    });
    await page.locator("input[type=file]").setInputFiles(chosen);
    await expect.poll(() => held !== undefined, { timeout: 60_000 }).toBe(true);
    await page.getByRole("button", { name: "Pause scan.bin" }).click();
    await page.getByText(/scan\.bin: paused at 9\d %/).waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    await page.getByRole("button", { name: "Resume scan.bin" }).click();
    await arrived(submissionId);
    // The chunk in flight is sent again, and none before it.
    expect(sent.map(Number)).toEqual([0, 4_194_304, 4_194_304]);
    await page.getByRole("link", { name: "scan.bin" }).waitFor();
    expect(refused).toEqual([]);
  });

  it("[PAGES-UPLOADS] continues after an interruption where it stopped", async () => {
    const { submissionId } = await open();
    const offsets: number[] = [];
    let isBroken = false;
    await page.route("**/*", async (route) => {
      const request = route.request();
      const isUpload = request.headers()["tus-resumable"] !== undefined;
      if (!isUpload) return await route.fallback();
      if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
      if (offsets.length > 1 && !isBroken) isBroken = true;
      if (isBroken) await route.abort();
      else await route.fallback();
    });
    await page.locator("input[type=file]").setInputFiles(chosen);
    await page.getByText("scan.bin could not be sent: No connection").waitFor({ timeout: 60_000 });
    await page.unrouteAll();
    const again: number[] = [];
    page.on("request", (request) => {
      const offset = request.headers()["upload-offset"];
      if (request.method() === "PATCH" && offset !== undefined) again.push(Number(offset));
    });
    await page.getByRole("button", { name: "Try again scan.bin" }).click();
    await arrived(submissionId);
    expect(again).toEqual([4_194_304]);
  });

  it("[PAGES-UPLOADS] shows why if it fails its check, and is not in the answers", async () => {
    const { submissionId } = await open();
    const pretended = { ...chosen, name: "<b>x</b>.bin", buffer: Buffer.from("%PDF-1.7\n%%EOF\n") };
    await page.locator("input[type=file]").setInputFiles(pretended);
    await page.getByText(/<b>x<\/b>\.bin could not be sent: /).waitFor();
    expect((await fieldsOf(submissionId)).scan).toBeUndefined();
  });
});

describe("more than one at a time", () => {
  it("[PAGES-TABS] two tabs: what is typed in each arrives in the other, also what one could not save at first", async () => {
    const { submissionId } = await open();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByLabel("City").waitFor();
    await page.route("**/fields", (route) => route.abort());
    await page.getByLabel("Name").fill("Ada");
    await page.getByText("No connection.").waitFor();
    await other.getByLabel("City").fill("Paris");
    await saved(other);
    await expect.poll(() => page.getByLabel("City").inputValue()).toBe("Paris");
    await page.unroute("**/fields");
    await saved();
    await expect.poll(() => other.getByLabel("Name").inputValue()).toBe("Ada");
    expect(await fieldsOf(submissionId)).toEqual({ name: "Ada", city: "Paris" });
    for (const tab of [page, other]) expect(await tab.locator(".fb-conflict").count()).toBe(0);
  });

  it("[PAGES-TABS] a tab that is closed with unsaved answers leaves them to the other one", async () => {
    const { submissionId } = await open();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByLabel("City").waitFor();
    await other.route("**/fields", (route) => route.abort());
    await other.getByLabel("City").fill("Paris");
    await other.getByText("No connection.").waitFor();
    await other.close();
    await expect.poll(() => page.getByLabel("City").inputValue(), { timeout: 60_000 }).toBe("Paris");
    await saved();
    expect((await fieldsOf(submissionId)).city).toBe("Paris");
  });

  it("[PAGES-CONFLICT] [PAGES-LISTS] a list that both changed is one choice", async () => {
    const { submissionId, resumeToken } = await open({ names: ["Ada", "Grace"] });
    await page.route("**/fields", (route) => route.abort());
    await page.getByLabel("Guest 2", { exact: true }).fill("Grace Hopper");
    const { resumeToken: next } = await filled(server, resumeToken, { names: ["Ada", "Grace", "Joan"] });
    await page.getByLabel("City").focus();
    await page.unroute("**/fields");
    const choice = page.locator(".fb-conflict");
    await choice.getByText('["Ada","Grace","Joan"]').waitFor({ timeout: 60_000 });
    await choice.getByText('["Ada","Grace Hopper"]').waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    await button("Take theirs").click();
    await expect.poll(() => page.getByLabel("Guest 3", { exact: true }).inputValue()).toBe("Joan");
    await saved();
    expect((await fieldsOf(submissionId)).names).toEqual(["Ada", "Grace", "Joan"]);
    await page.route("**/fields", (route) => route.abort());
    await page.getByLabel("Guest 1", { exact: true }).fill("Ada Lovelace");
    await filled(server, next, { names: ["Joan"] });
    await page.getByLabel("City").focus();
    await page.unroute("**/fields");
    await button("Keep mine").click({ timeout: 60_000 });
    await saved();
    expect((await fieldsOf(submissionId)).names).toEqual(["Ada Lovelace", "Grace", "Joan"]);
  });
});

describe("errors of the server at a bad moment", () => {
  const refusal = (status: number, type: string, more: Loose = {}) => ({
    status,
    json: { ok: false, error: { type, message: "Not now.", retryable: true, ...more } },
  });

  it.each([
    ["429", refusal(429, "rate_limited", { retryAfterMs: 300 })],
    ["503", refusal(503, "service_unavailable")],
    ["500", refusal(500, "internal_error")],
    ["a page of a proxy", { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" }],
  ])("[PAGES-RELOAD] %s while saving: shown as not saved, and saved afterwards", async (_name, answer) => {
    const { submissionId } = await open();
    let refusals = 0;
    await page.route("**/fields", async (route) => {
      refusals += 1;
      if (refusals <= 4) await route.fulfill(answer);
      else await route.fallback();
    });
    await page.getByLabel("City").fill("Paris");
    await page.getByText("No connection.").waitFor();
    await saved();
    expect((await fieldsOf(submissionId)).city).toBe("Paris");
  });

  it("[PAGES-PROBLEMS] a submit is not sent while an answer could not be saved", async () => {
    const { submissionId } = await open();
    await page.route("**/fields", (route) => route.fulfill(refusal(503, "service_unavailable")));
    await page.getByLabel("City").fill("Paris");
    await button("Check and submit").click();
    await page.locator(".pg-notice").getByText("Your answers were not sent yet.").waitFor({ timeout: 60_000 });
    expect((await record(server, submissionId)).state).not.toBe("finalized");
    await page.unroute("**/fields");
    await saved();
    await button("Check and submit").click();
    await button("Submit").click();
    await page.getByText("Thank you. Your answers were sent.").waitFor();
    expect((await fieldsOf(submissionId)).city).toBe("Paris");
  });

  it("[PAGES-ENDED] a 410 on submit: a form submitted by somebody else is shown as submitted", async () => {
    const { submissionId, resumeToken } = await open({ name: "Ada" });
    await button("Check and submit").click();
    await button("Submit").waitFor();
    await page.route("**/events*", (route) => route.abort());
    const body = { idempotencyKey: "by-somebody-else", actor: { kind: "agent", id: "bot" } };
    const reply = await server.call("POST", `/resume/${resumeToken}/submit`, { body });
    expect(reply.status).toBe(200);
    await page.unroute("**/events*");
    await button("Submit")
      .click({ timeout: 5_000 })
      .catch(() => {});
    await page.getByText("Thank you. Your answers were sent.").waitFor({ timeout: 60_000 });
    expect((await record(server, submissionId)).state).toBe("finalized");
  });
});

describe("much at once", () => {
  it("[FORM-DRAWN] five thousand choices are searched by typing, and drawn a few at a time", async () => {
    const { submissionId } = await open();
    const box = page.getByRole("combobox", { name: "Country" });
    await box.fill("Country 4999");
    await page.getByRole("option", { name: "Country 4999" }).click();
    await saved();
    expect((await fieldsOf(submissionId)).country).toBe("Country 4999");
    await box.fill("Country");
    await page.getByRole("option").first().waitFor();
    expect(await page.getByRole("option").count()).toBeLessThan(300);
    expect(await page.locator("*").count()).toBeLessThan(2000);
  });

  it("[PAGES-REFUSED] pasted megabytes stay in their field, are reported as too large, and do not keep anything else from being saved", async () => {
    const { submissionId } = await open();
    await page.getByLabel("City").fill("x".repeat(3_000_000));
    await page.getByLabel("Name").fill("Ada");
    await expect.poll(async () => (await fieldsOf(submissionId)).name, { timeout: 60_000 }).toBe("Ada");
    await page
      .locator('[data-path="city"]')
      .getByRole("alert")
      .or(page.locator('[data-path="city"] .fb-errors'))
      .first()
      .waitFor();
    expect((await page.getByLabel("City").inputValue()).length).toBe(3_000_000);
    expect((await fieldsOf(submissionId)).city).toBeUndefined();
    await page.getByLabel("City").fill("Paris");
    await saved();
    expect(await fieldsOf(submissionId)).toEqual({ name: "Ada", city: "Paris" });
  });

  it("[PAGES-LIVE] a clock that is a day off changes nothing", async () => {
    const made = await create(server, "order", { fields: { name: "Ada" } });
    const { url } = await handOff(server, made.resumeToken);
    ({ page, refused } = await openPage(browser));
    await page.clock.install({ time: Date.now() + 86_400_000 });
    await page.goto(url);
    await page.getByText("bot is still working on this form.").waitFor();
    await page.getByLabel("City").fill("Paris");
    await page.clock.runFor(2_000);
    await saved();
    expect((await fieldsOf(made.submissionId)).city).toBe("Paris");
    // By the page's own clock: a minute after it noticed the agent.
    await page.clock.runFor(120_000);
    await page.getByText("bot is still working on this form.").waitFor({ state: "detached" });
  });
});
