/** Every way in which a link fails to open a form: the page says what happened and what to do. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { axeInBothSchemes } from "../support/axe.ts";
import { openBrowser, openPage } from "../support/browser.ts";
import { createMailbox, handOff } from "../support/handoffs.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { create, DAY, filled, MINUTE, submit } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let page: Page;
const mailbox = createMailbox();

const SCHEMA = { type: "object", properties: { name: { type: "string", title: "Name" } } };

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ mailer: mailbox }), openBrowser()]);
  await server.putIntake({ id: "order", name: "Order", schema: SCHEMA as never });
  await server.putIntake({
    id: "discreet",
    name: "Order",
    schema: SCHEMA as never,
    tokens: { discloseCurrent: false },
  });
});
afterEach(() => page?.context().close());
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function open(url: string): Promise<void> {
  ({ page } = await openPage(browser));
  await page.goto(url);
}

async function says(title: string, way: string): Promise<void> {
  await page.getByRole("heading", { name: title }).waitFor();
  await page.getByText(way).waitFor();
  expect(await axeInBothSchemes(page)).toEqual([]);
}

describe("a link that opens nothing", () => {
  it("[PAGES-PROBLEMS] expired: the link, and the whole submission", async () => {
    const { resumeToken } = await create(server, "order");
    const { url } = await handOff(server, resumeToken);
    server.clock.advance(2 * DAY);
    await open(url);
    await says("This link has expired", "Ask whoever sent it to you for a new one.");
    server.clock.advance(30 * DAY);
    await page.goto(`${server.url}/resume/${resumeToken}`);
    await says("This link has expired", "Ask whoever sent it to you for a new one.");
  });

  it("[PAGES-PROBLEMS] finished: submitted already by somebody else", async () => {
    const { resumeToken } = await create(server, "order", { fields: { name: "Ada" } });
    const { url } = await handOff(server, resumeToken);
    await submit(server, resumeToken);
    await open(url);
    await says("This form was already sent", "Its answers can't be changed any more.");
  });

  it("[PAGES-PROBLEMS] not yours: the URL of a form in another browser than the one that opened it", async () => {
    const { submissionId, resumeToken } = await create(server, "order");
    await handOff(server, resumeToken);
    await open(`${server.url}/resume/${submissionId}`);
    await says("This link is for somebody else", "Open it with the address or account that it was sent to.");
  });

  it("[PAGES-PROBLEMS] revoked: the hand-off alone", async () => {
    const { submissionId, resumeToken } = await create(server, "order");
    const { url, handoffId } = await handOff(server, resumeToken);
    const path = `/submissions/${submissionId}/handoffs/${handoffId}`;
    await server.call("DELETE", path, { key: server.adminKey, body: {} });
    await open(url);
    await says("This link was withdrawn", "Ask whoever sent it to you whether you still need to fill in the form.");
  });

  it("[PAGES-PROBLEMS] rotated: a token that somebody has used since, where the new one is not disclosed", async () => {
    const { resumeToken } = await create(server, "discreet");
    await filled(server, resumeToken, { name: "Ada" });
    server.clock.advance(MINUTE);
    await open(`${server.url}/resume/${resumeToken}`);
    await says("This link is out of date", "The form was changed after the link was made.");
  });

  it("[PAGES-PROBLEMS] mistyped: unknown, cut off, of no form", async () => {
    for (const path of [`/resume/rtok_${"A".repeat(43)}`, "/resume/rtok_cut", "/resume/", "/forms/nowhere"]) {
      await page?.context().close();
      await open(server.url + path);
      await page.getByRole("heading", { name: "This link is not complete" }).waitFor();
    }
    await says("This link is not complete", "It may have been cut off in the message.");
  });

  it("[PAGES-PROBLEMS] too many tries: a code that was guessed at five times opens nothing, not even for its owner", async () => {
    const { resumeToken } = await create(server, "order");
    const { url } = await handOff(server, resumeToken, { kind: "magic_link", recipientEmail: "ada@example.com" });
    await open(url);
    await page.getByLabel("Your e-mail address").fill("ada@example.com");
    for (let tries = 1; tries <= 5; tries++) {
      const [answer] = await Promise.all([
        page.waitForResponse(/sessions$/),
        page.getByLabel("Code", { exact: true }).fill(`WRONG-${tries}`),
        page.getByRole("button", { name: "Open the form" }).click(),
      ]);
      expect(answer.status()).toBe(404);
      await expect.poll(() => page.getByRole("button", { name: "Open the form" }).isEnabled()).toBe(true);
    }
    await page.getByLabel("Code", { exact: true }).fill(mailbox.lastCode());
    await page.getByRole("button", { name: "Open the form" }).click();
    await says("This code was used, or tried too often", "Ask whoever sent it to you for a new one.");
  });

  it("[PAGES-PROBLEMS] offline when it is opened: reports it, and opens when the connection is back", async () => {
    const { resumeToken } = await create(server, "order");
    const { url } = await handOff(server, resumeToken);
    ({ page } = await openPage(browser));
    await page.route("**/submissions/**", (route) => route.abort());
    await page.goto(url);
    await says("No connection", "The page tries again by itself.");
    await page.unroute("**/submissions/**");
    await page.getByRole("heading", { name: "Order" }).waitFor();
  });
});
