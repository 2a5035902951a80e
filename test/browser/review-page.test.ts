import { readFileSync } from "node:fs";
import axe, { type AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { createMailbox, handOff } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { drain, JOBS_BY_HAND, reject, review, reviewerKey } from "../support/reviews.ts";
import { createScriptedCourier } from "../support/scripted-courier.ts";
import { create, DAY, HOUR, MINUTE, submit } from "../support/submissions.ts";
import { announced, confirm, PDF, PNG, send } from "../support/uploads.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const JANE = "jane@example.com";
const KIM = "kim@example.com";
const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name" },
    plan: {
      title: "Plan",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    address: { type: "object", title: "Address", properties: { city: { type: "string", title: "City" } } },
    people: {
      type: "array",
      title: "People",
      items: { type: "object", properties: { role: { type: "string", title: "Role" } } },
    },
    iban: { type: "string", title: "IBAN", "x-sensitive": true },
    photo: { title: "Photo", "x-file": { accept: ["image/*"], maxBytes: 1_000_000 } },
    contract: { title: "Contract", "x-file": { accept: ["application/pdf"], maxBytes: 1_000_000 } },
  },
  required: ["name"],
};
const UI = {
  steps: [
    { id: "who", title: "Who it is", fields: ["name", "address"] },
    { id: "what", title: "What they want", fields: ["plan", "people", "iban"] },
  ],
};
const HOSTILE = `<img src=x onerror="window.pwned=1">"'{{name}}<script>window.pwned=1</script>`;

const post = createMailbox();
const courier = createScriptedCourier();
let server: TestServer;
let browser: Browser;
let page: Page;
let refused: string[];
const opened: Page[] = [];

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ mailer: post, courier, env: JOBS_BY_HAND }), openBrowser()]);
  const gate = { name: "legal", reviewers: { ids: ["rosa"], emails: [JANE, KIM] } };
  const shared = { name: "Order", schema: SCHEMA as never, uiHints: UI };
  const destination = { kind: "webhook", url: "https://receiver.example/" } as const;
  await server.putIntake({ id: "order", ...shared, approvalGates: [{ ...gate, requiredApprovals: 2 }], destination });
  await server.putIntake({ id: "single", ...shared, approvalGates: [gate] });
  const escalateTo = { emails: ["boss@example.com"] };
  const slow = { name: "slow", reviewers: { emails: [JANE], escalateTo }, escalateAfterMs: HOUR };
  await server.putIntake({ id: "slow", ...shared, approvalGates: [slow] });
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.context().close();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function open(url: string, heading = "Order"): Promise<Page> {
  ({ page, refused } = await openPage(browser));
  opened.push(page);
  await page.goto(url);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  return page;
}
const byId = async (id: string): Promise<Loose> =>
  (await server.call("GET", `/submissions/${id}`, { key: server.adminKey })).body;
const linkOf = (email: string): string => `${server.url}/reviews/${post.reviewLink(email)}`;
const openReview = (email: string): Promise<Page> => open(linkOf(email));
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" });

/** A submission that an agent filled in and sent, and that waits. */
async function waiting(intakeId: string, fields: Loose = { name: "Ada" }): Promise<string> {
  const { submissionId, resumeToken } = await create(server, intakeId, { fields });
  expect((await submit(server, resumeToken)).body.state).toBe("needs_review");
  await drain(server);
  return submissionId;
}

/** What axe finds, in both schemes. */
async function problems(): Promise<unknown[]> {
  await page.evaluate(axe.source);
  const found: unknown[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations, passes } = await page.evaluate<AxeResults>("axe.run()");
    expect(passes.length).toBeGreaterThan(0);
    found.push(...violations.map(({ id, nodes }) => [colorScheme, id, nodes.map(({ html }) => html)]));
  }
  return found;
}

/** Everything that a page could leave behind. */
const leftBehind = (): Promise<string> =>
  page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.title, document.cookie])");

describe("the page of a review link", () => {
  it("[PAGES-REVIEW] two people decide: one asks for changes, the form is corrected, both approve, and it is delivered", async () => {
    const fields = { name: "Ada", plan: "l", people: [{ role: "CEO" }], address: { city: "Pariss" } };
    const { submissionId, resumeToken } = await create(server, "order", { fields });
    const { url } = await handOff(server, resumeToken);
    const human = await open(url);
    await button("Next").click();
    await page.getByLabel("IBAN").fill("DE00 1234");
    await page.getByText("All changes are saved").waitFor();
    await button("Check and submit").click();
    await button("Submit").click();
    await page.getByText("They are being reviewed.").waitFor();
    await drain(server);

    await openReview(JANE);
    await page.getByText(`You decide as ${JANE}.`).waitFor();
    await page.getByText("0 of 2 approvals").waitFor();
    expect(await page.getByRole("heading", { level: 2 }).allTextContents()).toEqual([
      "Approval: legal",
      "Who it is",
      "What they want",
      "More answers",
      "History",
    ]);
    for (const text of ["Large", "CEO", "People 1", "bot (agent)", "identity not verified", "opened a personal link"])
      await page.getByText(text).first().waitFor();
    expect(await page.getByText("DE00 1234").count()).toBe(0);
    await button("Show IBAN").click();
    await page.getByText("DE00 1234").waitFor();
    expect(await page.getByText("Not filled in").count()).toBe(2);
    await button("Ask for changes").click();
    await button("Send back").click();
    await page.getByText("Write a message or a note first.").waitFor();
    await button("Add a note City").click();
    await page.getByLabel("Note on City").fill("One s only.");
    await page.getByLabel("Message").fill("Nearly there.");
    await button("Send back").click();
    await page.getByRole("heading", { name: "Sent back" }).waitFor();
    expect(await byId(submissionId)).toMatchObject({
      state: "rejected",
      rejections: [{ reasons: ["Nearly there."], fieldReasons: { "address.city": "One s only." }, by: { id: JANE } }],
    });

    page = human;
    await page.reload();
    await page.getByText("Nearly there.").waitFor();
    await page.getByText("Please change: One s only.").waitFor();
    await page.getByLabel("City").fill("Paris");
    await page.getByText("All changes are saved").waitFor();
    await button("Next").click();
    await button("Check and submit").click();
    await button("Submit").click();
    await page.getByText("They are being reviewed.").waitFor();
    await drain(server);

    await openReview(JANE);
    await page.getByText("1 answer has been changed since.").waitFor();
    await page.getByText("changed since", { exact: true }).waitFor();
    await page.getByText("Before: Pariss").waitFor();
    expect(await page.locator("[data-changed]").allInnerTexts()).toEqual([expect.stringContaining("Paris")]);
    await page.getByText("History").click();
    await page.getByText("Sent back: legal").waitFor();
    await button("Approve").click();
    await page.getByLabel("Comment (optional)").fill("I called them.");
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("1 of 2 approvals are there").waitFor();

    await openReview(KIM);
    await page.getByText(`${JANE} approved`).waitFor();
    await page.getByText("I called them.").first().waitFor();
    await button("Approve").click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("Thank you. It is complete and has arrived.").waitFor();
    expect((await byId(submissionId)).state).toBe("finalized");
    const sent = courier.sent.filter((outgoing) => outgoing.submissionId === submissionId);
    expect(sent).toHaveLength(1);
    expect(JSON.parse(String(sent[0]?.body))).toMatchObject({ data: { fields: { address: { city: "Paris" } } } });
    expect(refused).toEqual([]);
  });

  it("[PAGES-REVIEW] shows images inline and other files as links that open without a credential", async () => {
    const { submissionId, resumeToken } = await create(server, "single", { fields: { name: "Ada" } });
    let token = resumeToken;
    for (const file of [
      { field: "photo", bytes: PNG, filename: "me.png", mimeType: "image/png" },
      { field: "contract", bytes: PDF, filename: "c.pdf" },
    ]) {
      const ticket = await announced(server, token, file);
      await send(ticket, file.bytes);
      token = (await confirm(server, ticket.resumeToken, ticket.uploadId)).body.resumeToken;
    }
    await submit(server, token);
    await drain(server);
    await openReview(JANE);
    const image = page.getByAltText("Preview of me.png");
    await expect.poll(() => image.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
    const href = await page.getByRole("link", { name: "c.pdf" }).getAttribute("href");
    expect((await fetch(String(href))).headers.get("content-disposition")).toMatch(/^attachment/);
    expect(await page.getByAltText("Preview of c.pdf").count()).toBe(0);
    server.clock.advance(10 * MINUTE);
    expect((await fetch(String(href))).status).toBeGreaterThanOrEqual(400);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "c.pdf" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("c.pdf");
    expect(readFileSync(await download.path())).toEqual(Buffer.from(PDF));
    expect(await page.title()).toBe("Review");
    expect((await byId(submissionId)).state).toBe("needs_review");
  });

  it("[PAGES-REVIEW-OVER] explains why a link can no longer decide", async () => {
    const id = await waiting("single");
    const [jane, kim] = [linkOf(JANE), linkOf(KIM)];
    await open(jane);
    await button("Reject").click();
    await page.getByLabel("Message").fill("No.");
    await button("Send back").click();
    await page.getByRole("heading", { name: "Sent back" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "You have already decided" }).waitFor();
    await open(kim, "This was decided without you");
    expect(await problems()).toEqual([]);
    await open(`${server.url}/reviews/rvw_${"a".repeat(43)}`, "This link does not work");
    await open(`${server.url}/reviews/rvw_cut`, "This link does not work");
    expect((await byId(id)).rejections).toHaveLength(1);

    const cancelled = await waiting("single");
    await server.call("DELETE", `/submissions/${cancelled}`, { key: server.adminKey });
    await open(linkOf(JANE), "This was withdrawn");

    await waiting("slow");
    const late = linkOf(JANE);
    server.clock.advance(HOUR);
    await drain(server);
    await open(linkOf("boss@example.com"));
    await page.getByText("This has waited too long.").waitFor();
    server.clock.advance(8 * DAY);
    await open(late, "This link has expired");
  });

  it("[PAGES-REVIEW-OVER] explains why its holder can't decide, and shows what changed while the page was open", async () => {
    const id = await waiting("order");
    const jane = linkOf(JANE);
    const body = { reviewers: { emails: [KIM], ids: ["rosa"] }, reason: "away" };
    await open(jane);
    await server.call("POST", `/submissions/${id}/review/reassign`, { key: server.adminKey, body });
    await button("Approve").click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("Other people were asked to decide this.").waitFor();
    expect(await button("Approve").count()).toBe(0);
    expect((await byId(id)).reviewState.approvals).toEqual([]);

    const again = await waiting("order");
    const kim = linkOf(KIM);
    await review(server, again, await reviewerKey(server, "kim", KIM));
    await open(kim);
    await page.getByText("You have approved this. It waits for others.").waitFor();
  });

  it("[PAGES-REVIEW-SAFE] hostile values are text, and the link is neither stored nor sent along", async () => {
    const fields = {
      name: HOSTILE,
      address: { city: HOSTILE, [HOSTILE.slice(0, 40)]: HOSTILE },
      people: [{ role: HOSTILE }],
    };
    const id = await waiting("single", fields);
    await reject(server, id, await reviewerKey(server, "rosa"), HOSTILE);
    const { resumeToken } = await byId(id);
    await submit(server, resumeToken, { headers: { "idempotency-key": crypto.randomUUID() } });
    await drain(server);
    const secret = post.reviewLink(JANE);
    const referers: (string | undefined)[] = [];
    ({ page, refused } = await openPage(browser));
    opened.push(page);
    page.on("request", (request) => referers.push(request.headers().referer));
    await page.goto(linkOf(JANE));
    await page.getByText(HOSTILE).first().waitFor();
    await page.getByText("History").click();
    expect(await page.getByText(HOSTILE).count()).toBeGreaterThan(4);
    expect(await page.evaluate("window.pwned")).toBeUndefined();
    expect(await leftBehind()).not.toContain(secret.slice(4));
    expect(referers.filter((referer) => referer?.includes("rvw_"))).toEqual([]);
    expect(refused).toEqual([]);
  });

  it("[PAGES-REVIEW] answers JSON to clients, and HTML without inline script to browsers", async () => {
    await waiting("single");
    const reply = await fetch(linkOf(JANE), { headers: { accept: "text/html,*/*;q=0.8" } });
    expect(reply.headers.get("content-type")).toContain("text/html");
    expect(reply.headers.get("content-security-policy")).toMatch(/require-trusted-types-for 'script'/);
    expect(reply.headers.get("referrer-policy")).toBe("no-referrer");
    expect((await fetch(linkOf(JANE))).headers.get("content-type")).toContain("application/json");
  });
});

describe("the queue of a reviewer with a key", () => {
  it("[PAGES-REVIEW-QUEUE] [PAGES-REVIEW-ACCESSIBLE] can be used by keyboard alone, and the key is stored nowhere", async () => {
    const rosa = await reviewerKey(server, "rosa");
    for (const item of (await server.call("GET", "/reviews?limit=1000", { key: rosa })).body.items)
      await server.call("DELETE", `/submissions/${item.submissionId}`, { key: server.adminKey });
    const id = await waiting("single", { name: "Grace", address: { city: "Rome" } });
    await open(`${server.url}/review`, "Reviews");
    expect(await problems()).toEqual([]);
    const type = async (text: string) => {
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    };
    /** Moves the focus until it is on the wanted element. */
    const tabTo = async (name: RegExp) => {
      for (let count = 0; count < 60; count++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate<string>(
          "(document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent ?? '').trim()",
        );
        if (name.test(at)) return;
      }
      throw new Error(`the focus never came to ${name}`);
    };
    await tabTo(/^Key$/);
    await type("fbk_wrong");
    await page.getByText("This key is unknown, or isn't a reviewer's.").waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await type(rosa);
    await page.getByRole("heading", { name: "Waiting for you" }).waitFor();
    await page.getByText("0 of 1 approvals").waitFor();
    expect(await problems()).toEqual([]);
    await tabTo(/^Review Order/);
    await page.keyboard.press("Enter");
    await page.getByText("Rome").waitFor();
    expect(await problems()).toEqual([]);
    await tabTo(/^Ask for changes$/);
    await page.keyboard.press("Enter");
    await page.getByLabel("Message").waitFor();
    expect(await problems()).toEqual([]);
    await tabTo(/^Cancel$/);
    await page.keyboard.press("Enter");
    await tabTo(/^Approve$/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await problems()).toEqual([]);
    await tabTo(/^Approve$/);
    await page.keyboard.press("Enter");
    await page.getByText("It is complete and has arrived.").waitFor();
    expect(await problems()).toEqual([]);
    expect((await byId(id)).reviewState.decidedBy).toMatchObject({ id: "rosa" });
    expect(await leftBehind()).not.toContain(rosa.slice(4));
    await button("Back to the list").click();
    await page.getByText("Nothing waits for you.").waitFor();
    await page.reload();
    await page.getByLabel("Key").waitFor();
    expect(refused).toEqual([]);
  });

  it("[PAGES-REVIEW-QUEUE] decides only on what was seen: changes made meanwhile are shown first", async () => {
    const id = await waiting("order", { name: "Two at once" });
    const rosa = await reviewerKey(server, "rosa");
    await open(`${server.url}/review`, "Reviews");
    await page.getByLabel("Key").fill(rosa);
    await button("Open").click();
    await page.getByRole("button", { name: new RegExp(id) }).click();
    await page.getByText("0 of 2 approvals").waitFor();
    await server.call("POST", `/reviews/${post.reviewLink(JANE)}`, { body: { decision: "approved" } });
    await button("Approve").click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("It changed while you were looking.").waitFor();
    await page.getByText("1 of 2 approvals").waitFor();
    await button("Approve").click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("It is complete and has arrived.").waitFor();
  });
});
