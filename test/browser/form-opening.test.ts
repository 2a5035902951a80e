/** How a link opens: what the form needs is requested early, and once. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { handOff } from "../support/handoffs.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { create, record } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false }), openBrowser()]);
  const schema = { type: "object", properties: { name: { type: "string", title: "Name" } } };
  await server.putIntake({ id: "order", name: "Order", schema: schema as never });
});
afterEach(() => page?.context().close());
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** The paths of the API that the page has read, in order; the event stream aside. */
function watchReads(): string[] {
  const reads: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.resourceType() === "fetch" && !pathname.endsWith("/events")) reads.push(pathname);
  });
  return reads;
}

describe("opening a link", () => {
  it("[PAGES-FORM] reads the submission while the form's code is still loading, and only once", async () => {
    const { resumeToken } = await create(server, "order", { fields: { name: "Ada" } });
    ({ page } = await openPage(browser));
    const reads = watchReads();
    let arrive = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await page.route("**/assets/app-*.js", async (route) => {
      await arrived;
      await route.continue();
    });
    await page.goto(`${server.url}/resume/${resumeToken}`, { waitUntil: "commit" });
    await expect.poll(() => reads.toSorted()).toEqual([`/resume/${resumeToken}`, `/resume/${resumeToken}/intake`]);
    arrive();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Ada");
    expect(reads).toHaveLength(2);
  });

  it("[PAGES-FORM] a read that failed early is tried again", async () => {
    const { resumeToken } = await create(server, "order", { fields: { name: "Ada" } });
    ({ page } = await openPage(browser));
    let failures = 0;
    await page.route("**/intake", async (route) => {
      failures += 1;
      if (failures === 1) await route.abort();
      else await route.continue();
    });
    await page.goto(`${server.url}/resume/${resumeToken}`);
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Ada");
  });

  it("[PAGES-FORM] opens a hand-off for a person without a session, and again from its cookie", async () => {
    const { resumeToken } = await create(server, "order", { fields: { name: "Ada" } });
    const actor = { kind: "agent", id: "closer", name: "Closing assistant" };
    const { url, submissionId } = await handOff(server, resumeToken, { message: "Please check.", actor });
    ({ page } = await openPage(browser));
    await page.goto(url);
    await page.getByLabel("Name").waitFor();
    // The message is from whoever handed over, who need not be the one that began the form.
    await page.getByText("Message from Closing assistant").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/resume/${submissionId}`);
    await page.reload();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Ada");
  });

  it("[PAGES-NOTHING-LOST] shows the form as it was begun, though its intake has a new version by now", async () => {
    const text = (title: string) => ({ type: "string", title });
    const begun = { type: "object", properties: { name: text("Name"), city: text("City") } };
    const next = { type: "object", properties: { email: text("Email") }, required: ["email"] };
    await server.putIntake({ id: "trip", version: "1", name: "Trip", schema: begun as never });
    const { submissionId, resumeToken } = await create(server, "trip", { fields: { name: "Ada" } });
    const { url } = await handOff(server, resumeToken);
    ({ page } = await openPage(browser));
    await page.goto(url);
    await page.getByLabel("City").fill("Par");
    await server.putIntake({ id: "trip", version: "2", name: "Trip", schema: next as never });
    await page.getByLabel("City").pressSequentially("is");
    await page.getByText("All changes are saved").waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("City").inputValue()).toBe("Paris");
    expect(await page.getByLabel("Email").count()).toBe(0);
    for (const name of ["Check and submit", "Submit"]) await page.getByRole("button", { name, exact: true }).click();
    await page.getByText("Thank you. Your answers were sent.").waitFor();
    expect((await record(server, submissionId)).fields).toEqual({ name: "Ada", city: "Paris" });
  });
});
