import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { axeInBothSchemes } from "../support/axe.ts";
import { openBrowser, openPage } from "../support/browser.ts";
import { createMailbox, handOff } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { reviewerKey } from "../support/reviews.ts";
import { create, record } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let page: Page;
let refused: string[];
const mailbox = createMailbox();

const SCHEMA = { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] };

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false, mailer: mailbox }), openBrowser()]);
  await server.putIntake({ id: "order", name: "Order", schema: SCHEMA as never });
  const approvalGates = [{ name: "legal", reviewers: { ids: ["rosa"] } }];
  await server.putIntake({ id: "gated", name: "Gated", schema: SCHEMA as never, approvalGates });
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

const button = (name: string) => page.getByRole("button", { name, exact: true });
const saved = () => page.getByText("All changes are saved").waitFor();
const heading = (name: string) => page.getByRole("heading", { name });

describe("a link for several people", () => {
  const JANE = { kind: "human", id: "user_jane", name: "Jane Roe" };
  const JOE = { kind: "human", id: "user_joe", name: "Joe <b>Bloggs</b>" };
  const BOT = { kind: "agent", id: "helper" };

  it("[PAGES-WHO] asks who is here, and records the answers as theirs", async () => {
    const { submissionId, resumeToken } = await create(server, "order");
    const { url } = await handOff(server, resumeToken, { allowedActors: [JANE, JOE, BOT] });
    await open(url);
    await heading("Who are you?").waitFor();
    expect(await axeInBothSchemes(page)).toEqual([]);
    expect(await page.getByRole("listitem").allInnerTexts()).toEqual([JANE.name, JOE.name]);
    await button(JOE.name).click();
    await page.getByLabel("Name").fill("Ada");
    await saved();
    await page.getByText("filled in by you").waitFor();
    expect((await record(server, submissionId)).attribution.name.actor).toMatchObject({ ...JOE, proof: "link" });
    await page.reload();
    await page.getByText("filled in by you").waitFor();
    expect(refused).toEqual([]);
  });

  it("[PAGES-WHO] a magic link asks after the code, which can be used once", async () => {
    const { submissionId, resumeToken } = await create(server, "order");
    const request = { kind: "magic_link", recipientEmail: "team@example.com", allowedActors: [JANE, JOE] };
    const { url } = await handOff(server, resumeToken, request);
    await expect.poll(() => mailbox.lastCode()).not.toBe("");
    await open(url);
    await page.getByLabel("Your e-mail address").fill("team@example.com");
    await page.getByLabel("Code", { exact: true }).fill(mailbox.lastCode());
    await button("Open the form").click();
    await button(JANE.name).click();
    await page.getByLabel("Name").fill("Ada");
    await saved();
    expect((await record(server, submissionId)).attribution.name.actor).toMatchObject({ ...JANE, proof: "code" });
  });

  it("[PAGES-WHO] says that the link has expired before it asks for a name", async () => {
    const { submissionId, resumeToken } = await create(server, "order");
    const { url, handoffId } = await handOff(server, resumeToken, { allowedActors: [JANE, JOE] });
    const path = `/submissions/${submissionId}/handoffs/${handoffId}`;
    await server.call("DELETE", path, { key: server.adminKey, body: {} });
    await open(url);
    await heading("This link was withdrawn").waitFor();
  });

  it("[PAGES-WHO] a person without a name is shown as such, not by the id of the link", async () => {
    const { submissionId, resumeToken } = await create(server, "gated");
    const { url } = await handOff(server, resumeToken);
    await open(url);
    await page.getByLabel("Name").fill("Ada");
    await button("Check and submit").click();
    await button("Submit").click();
    await page.getByText("They are being reviewed.").waitFor();
    expect((await record(server, submissionId)).attribution.name.actor.id).toMatch(/^hof_/);
    await page.goto(`${server.url}/review`);
    await page.getByLabel("Key").fill(await reviewerKey(server, "rosa"));
    await button("Open").click();
    await page.getByText("from somebody with the link").waitFor();
    await page.getByRole("button", { name: /^Review Gated/ }).click();
    await page.getByText("somebody with the link").first().waitFor();
    await page.getByText("History").click();
    expect(await page.locator("body").textContent()).not.toContain("hof_");
  });
});

describe("continue later", () => {
  const dialog = () => page.getByRole("dialog");
  const links = async (submissionId: string): Promise<Loose[]> =>
    (await server.call("GET", `/submissions/${submissionId}/handoffs`, { key: server.adminKey })).body.items;

  it("[PAGES-LATER] shows one link, copies it, and mails another to the person's own address", async () => {
    const { submissionId, resumeToken } = await create(server, "order");
    await open((await handOff(server, resumeToken)).url);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    for (let looks = 0; looks < 2; looks++) {
      await button("Continue later").click();
      await dialog().getByRole("img", { name: "Continue on your phone" }).waitFor();
      if (looks === 0) await button("Close").click();
    }
    expect(await links(submissionId)).toHaveLength(2);
    expect(await axeInBothSchemes(page)).toEqual([]);
    const shown = await dialog().getByLabel("Continue later", { exact: true }).inputValue();
    await button("Copy").click();
    await button("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(shown);
    await dialog().getByLabel("Your e-mail address").fill("ada@example.com");
    await button("E-mail it to me").click();
    await dialog().getByText("Sent to ada@example.com.").waitFor();
    const mail = mailbox.mails.at(-1);
    expect(mail).toMatchObject({ to: "ada@example.com", subject: expect.stringContaining("Order") });
    const url = /http\S+session=\S+/.exec(mail?.text ?? "")?.[0] ?? "";
    await page.context().close();
    await open(url);
    await page.getByLabel("Name").fill("Ada");
    await saved();
    mailbox.broken = true;
    await button("Continue later").click();
    await dialog().getByLabel("Your e-mail address").fill("ada@example.com");
    await button("E-mail it to me").click();
    await dialog().getByText("The e-mail was not sent.").waitFor();
    mailbox.broken = false;
    expect(refused).toEqual([]);
  });

  it("[PAGES-LATER] without a mail server it offers only the link; a failure is reported and can be retried", async () => {
    const { resumeToken } = await create(server, "order");
    ({ page, refused } = await openPage(browser));
    await page.route("**/intake", async (route) => {
      const answer = await route.fetch();
      const { sendsMail: _, ...body } = await answer.json();
      await route.fulfill({ response: answer, json: body });
    });
    await page.route("**/handoffs", (route) => route.abort());
    await page.goto(`${server.url}/resume/${resumeToken}`);
    await button("Continue later").click();
    await dialog().getByText("Something went wrong.").waitFor();
    await page.unroute("**/handoffs");
    await button("Try again").click();
    await button("Copy").waitFor();
    expect(await dialog().getByLabel("Your e-mail address").count()).toBe(0);
  });
});
