import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { axeInBothSchemes } from "../support/axe.ts";
import { openBrowser, openPage } from "../support/browser.ts";
import { createMailbox, handOff } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { connectHost } from "../support/mcp.ts";
import { create, filled } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let page: Page;
let refused: string[];
const mailbox = createMailbox();

const ORDER = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name" },
    email: { type: "string", format: "email", title: "E-mail" },
    amount: { type: "number", title: "Amount" },
    city: { type: "string", title: "City" },
    note: { type: "string", title: "Note" },
  },
  required: ["name", "email", "city"],
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false, mailer: mailbox }), openBrowser()]);
  await server.putIntake({ id: "order", name: "Order", schema: ORDER as never });
});
afterEach(() => page?.context().close());
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function open(url: string): Promise<void> {
  ({ page, refused } = await openPage(browser));
  await page.goto(url);
}

const begun = (fields: Loose = { name: "Ada" }): Promise<Loose> => create(server, "order", { fields });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const saved = () => page.getByText("All changes are saved").waitFor();
const heading = (name: string) => page.getByRole("heading", { name });

describe("each kind of link, while the agent continues by MCP", () => {
  /** Types, lets the agent write, reloads, and finds both. */
  async function workTogether(resumeToken: string): Promise<void> {
    const agent = await connectHost(`${server.url}/mcp`);
    await page.getByLabel("City").fill("Paris");
    await saved();
    const { resumeToken: current = resumeToken } = (await server.call("GET", `/resume/${resumeToken}`)).body;
    await agent.done("formbridge_set_fields", {
      resumeToken: current,
      actor: { kind: "agent", id: "bot" },
      fields: { amount: 7 },
    });
    await expect.poll(() => page.getByLabel("Amount").inputValue()).toBe("7");
    await agent.close();
    await saved();
    await page.reload();
    await page.getByLabel("City").waitFor();
    await expect.poll(() => page.getByLabel("City").inputValue()).toBe("Paris");
    expect(await page.getByLabel("Amount").inputValue()).toBe("7");
    expect(await page.title()).not.toContain("rtok_");
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).not.toMatch(
      /rtok_|sess_/,
    );
    expect(refused).toEqual([]);
  }

  it.each(["session", "qr", "direct"])("[PAGES-LINKS] %s", async (kind) => {
    const { resumeToken } = await begun();
    const { url } = await handOff(server, resumeToken, { kind });
    await open(url);
    await heading("Order").waitFor();
    await workTogether(resumeToken);
    if (kind !== "direct") expect(page.url()).not.toContain("sess_");
  });

  it("[PAGES-LINKS] magic_link: asks for the address and the code, and says when they are wrong", async () => {
    const { resumeToken } = await begun();
    const { url } = await handOff(server, resumeToken, { kind: "magic_link", recipientEmail: "jane@example.com" });
    await expect.poll(() => mailbox.lastCode()).not.toBe("");
    await open(url);
    await page.getByLabel("Your e-mail address").fill("jane@example.com");
    await page.getByLabel("Code", { exact: true }).fill("WRONG-CODE");
    await button("Open the form").click();
    await page.getByText("This code and address don't match.").waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    await page.getByLabel("Code", { exact: true }).fill(mailbox.lastCode());
    await button("Open the form").click();
    await heading("Order").waitFor();
    await workTogether(resumeToken);
  });

  it("[PAGES-LINKS] the other forms of a direct link, even when the token was rotated since", async () => {
    const { submissionId, resumeToken } = await begun();
    await filled(server, resumeToken, { note: "later" });
    for (const path of [`/resume/${submissionId}/${resumeToken}`, `/resume?token=${resumeToken}`]) {
      await page?.context().close();
      await open(server.url + path);
      await page.getByLabel("Note").waitFor();
      await expect.poll(() => page.getByLabel("Note").inputValue()).toBe("later");
    }
  });
});

describe("a link that does not work", () => {
  const says = async (title: string): Promise<void> => {
    await heading(title).waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
  };

  it("[PAGES-PROBLEMS] mistyped, revoked, cancelled, unknown", async () => {
    await open(`${server.url}/resume/rtok_cut-off`);
    await says("This link is not complete");
    const { submissionId, resumeToken } = await begun();
    const { url } = await handOff(server, resumeToken);
    await server.call("POST", `/submissions/${submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
    await page.goto(`${server.url}/resume/${resumeToken}`);
    await says("This link was withdrawn");
    await server.call("DELETE", `/submissions/${submissionId}`, { key: server.adminKey, body: {} });
    await page.goto(url);
    await says("This form was cancelled");
    await page.goto(`${server.url}/forms/nowhere`);
    await page.getByRole("heading", { level: 1 }).waitFor();
  });

  it("[PAGES-PROBLEMS] too many tries, and offline: the page retries", async () => {
    const { resumeToken } = await begun();
    const error = { type: "rate_limited", message: "Slow down.", retryable: false };
    ({ page, refused } = await openPage(browser));
    await page.route("**/intake", (route) => route.fulfill({ status: 429, json: { ok: false, error } }));
    await page.goto(`${server.url}/resume/${resumeToken}`);
    await says("Too many tries");
    await page.unroute("**/intake");
    await button("Try again").click();
    await heading("Order").waitFor();
  });

  it("[PAGES-PROBLEMS] revoked while somebody types: unsaved answers can be copied", async () => {
    const { submissionId, resumeToken } = await begun();
    await open(`${server.url}/resume/${resumeToken}`);
    await page.getByLabel("City").waitFor();
    await page.route("**/fields", (route) => route.abort());
    await page.getByLabel("City").fill("Atlantis");
    await server.call("POST", `/submissions/${submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
    await heading("This link was withdrawn").waitFor();
    await page.getByText("City: Atlantis").waitFor();
    await button("Copy my answers").waitFor();
  });

  it("[PAGES-PROBLEMS] without JavaScript a plain page says what is needed", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
    await page.goto(`${server.url}/forms/order`);
    await heading("This form needs JavaScript").waitFor();
  });
});

describe("filling in", () => {
  it("[PAGES-CHECK] a failed check lists what is wrong, and next missing visits each field in turn", async () => {
    const { resumeToken } = await begun({ amount: 1 });
    await open((await handOff(server, resumeToken)).url);
    const focused = () => page.evaluate<string>(`document.activeElement?.closest("[data-path]")?.dataset.path`);
    for (const path of ["name", "email", "city", "name"]) {
      await button("Go to the next one").click();
      await expect.poll(focused).toBe(path);
    }
    await button("Check and submit").click();
    await heading("3 answers need another look.").waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    await button("City").click();
    await expect.poll(focused).toBe("city");
  });

  it("[PAGES-ACCESSIBLE] the keyboard fills in and submits, and the bar never covers the focus", async () => {
    const { submissionId, resumeToken } = await begun();
    await open((await handOff(server, resumeToken)).url);
    await page.setViewportSize({ width: 320, height: 480 });
    await page.getByLabel("Name").waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    const typed: Loose = { email: "ada@example.com", city: "Paris" };
    const covered: string[] = [];
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate<{ path?: string; text: string; isUnder: boolean }>(`(() => {
        const element = document.activeElement;
        const bar = document.querySelector(".pg-bar");
        const { bottom } = element.getBoundingClientRect();
        const isUnder = !bar.contains(element) && element !== document.body && bottom > bar.getBoundingClientRect().top;
        return { path: element.closest("[data-path]")?.dataset.path, text: element.textContent, isUnder };
      })()`);
      if (at.isUnder) covered.push(at.path ?? at.text);
      if (at.path !== undefined && typed[at.path] !== undefined) await page.keyboard.type(typed[at.path]);
      if (at.text === "Check and submit") break;
    }
    expect(covered).toEqual([]);
    await saved();
    await page.keyboard.press("Enter");
    await heading("Please check your answers").waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    await button("Submit").focus();
    await page.keyboard.press("Enter");
    await heading("Thank you. Your answers were sent.").waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    const { fields } = (await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey })).body;
    expect(fields).toEqual({ name: "Ada", ...typed });
  });

  it("[PAGES-PROBLEMS] a submit that fails is reported, and can be retried", async () => {
    const { resumeToken } = await begun({ name: "Ada", email: "ada@example.com", city: "Paris" });
    await open(`${server.url}/resume/${resumeToken}`);
    await button("Check and submit").click();
    const error = { type: "internal_error", message: "Broken.", retryable: false };
    await page.route("**/submit", (route) => route.fulfill({ status: 500, json: { ok: false, error } }));
    await button("Submit").click();
    await page.locator(".pg-notice").getByText("Your answers were not sent yet.").waitFor();
    await page.unroute("**/submit");
    await button("Submit").click();
    await heading("Thank you. Your answers were sent.").waitFor();
  });

  it("[PAGES-REJECTED] a rejected form says why, above the form and at the field until it is changed", async () => {
    const approvalGates = [{ name: "legal", reviewers: { ids: ["rita"] } }];
    await server.putIntake({ id: "gated", name: "Gated", schema: ORDER as never, approvalGates });
    const rita = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rita" } });
    const complete = { name: "Ada", email: "ada@example.com", city: "Pari" };
    const { submissionId, resumeToken } = await create(server, "gated", { fields: complete });
    await open((await handOff(server, resumeToken)).url);
    await button("Check and submit").click();
    await heading("Please check your answers").waitFor();
    // The reviewer is faster than the page's next read.
    const isDecided = Promise.withResolvers<void>();
    await page.route(`**/submissions/${submissionId}`, (route) => isDecided.promise.then(() => route.continue()));
    await button("Submit").click();
    await page.getByText("They are being reviewed.").waitFor();
    const body = { decision: "rejected", reasons: ["Almost"], fieldReasons: { city: "A letter is missing" } };
    expect((await server.call("POST", `/submissions/${submissionId}/review`, { key: rita, body })).status).toBe(200);
    isDecided.resolve();
    await page.getByText("Almost").waitFor();
    const reason = page.locator('[data-path="city"]').getByText("A letter is missing");
    await reason.waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    await page.getByLabel("City").fill("Paris");
    await reason.waitFor({ state: "detached" });
  });
});

describe("strangers", () => {
  it("[PAGES-DOOR] the start page shows public intakes only", async () => {
    await server.putIntake({ id: "members", name: "Members only", access: "key", schema: ORDER as never });
    await open(server.url);
    await page.getByRole("link", { name: "Order" }).waitFor();
    expect(await page.getByText("Members only").count()).toBe(0);
    expect(await axeInBothSchemes(page)).toEqual([]);
    await page.getByRole("link", { name: "Order" }).click();
    await button("Start").waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    expect((await server.call("GET", "/")).status).toBe(404);
  });

  it("[PAGES-HOSTILE] markup in every text stays text, and no secret is sent to anyone", async () => {
    const bad = `"><img src=https://evil.example/x onerror="window.hit=1"><script>window.hit=1</script>{{t}}`;
    const properties = {
      [`a${"b"}`]: { type: "string", title: bad, description: bad },
      city: { type: "string", title: bad },
    };
    const uiHints = { fieldHints: { city: { help: bad, placeholder: bad } } };
    const intake = {
      name: bad,
      description: bad,
      branding: {
        name: bad,
        logo: `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><script>${"window.hit=1"}</script></svg>`,
      },
    };
    await server.putIntake({ id: "hostile", ...intake, uiHints, schema: { type: "object", properties } as never });
    const actor = { kind: "agent", id: "bot", name: bad };
    const { resumeToken } = await create(server, "hostile", { fields: { ab: bad }, actor });
    const { url } = await handOff(server, resumeToken, { message: bad, kind: "session" });
    ({ page, refused } = await openPage(browser));
    const referers: string[] = [];
    page.on("request", (request) => referers.push(request.headers().referer ?? ""));
    await page.goto(`${url}&hint=${encodeURIComponent(bad)}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("textbox").last().fill(bad);
    await saved();
    await button("Check and submit").click();
    await button("Submit").click();
    await heading("Thank you. Your answers were sent.").waitFor();
    expect(await page.evaluate("window.hit")).toBeUndefined();
    expect(refused).toEqual([]);
    expect(referers.join()).not.toMatch(/rtok_|sess_/);
    expect(await page.title()).not.toMatch(/rtok_|sess_|<script/);
    expect(await page.evaluate("JSON.stringify({ ...localStorage })")).not.toMatch(/rtok_|sess_/);
  });

  it("[PAGES-SCANNERS] a thousand openings use up and create nothing", async () => {
    const { submissionId, resumeToken } = await begun();
    const session = await handOff(server, resumeToken);
    const magic = await handOff(server, resumeToken, { kind: "magic_link", recipientEmail: "joe@example.com" });
    const paths = [session.url, magic.url, `${server.url}/resume/${resumeToken}`, `${server.url}/forms/order`];
    const state = async () => {
      const { version } = (await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey })).body;
      const { items } = (await server.call("GET", `/submissions/${submissionId}/handoffs`, { key: server.adminKey }))
        .body;
      const all = (await server.call("GET", "/submissions?limit=1000", { key: server.adminKey })).body.items.length;
      return { version, all, links: items.map(({ status, sessions }: Loose) => [status, sessions.length]) };
    };
    const before = await state();
    for (let round = 0; round < 50; round++) {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          const { pathname, search } = new URL(paths[index % paths.length] ?? "");
          const accept = index % 2 === 0 ? "text/html" : "application/json";
          return server.call("GET", pathname + search, { headers: { accept } });
        }),
      );
    }
    expect(await state()).toEqual(before);
  });
});
