import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { handOff } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { create, filled } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let page: Page;
let refused: string[];

const ORDER = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name" },
    email: { type: "string", format: "email", title: "E-mail" },
    amount: { type: "number", title: "Amount" },
    address: { type: "object", title: "Address", properties: { city: { type: "string", title: "City" } } },
  },
  required: ["name", "email"],
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false }), openBrowser()]);
  await server.putIntake({ id: "order", name: "Order", schema: ORDER as never });
});
afterEach(() => page?.context().close());
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const read = async (token: string): Promise<Loose> => (await server.call("GET", `/resume/${token}`)).body;
const byId = async (id: string): Promise<Loose> =>
  (await server.call("GET", `/submissions/${id}`, { key: server.adminKey })).body;

async function open(url: string): Promise<void> {
  ({ page, refused } = await openPage(browser));
  await page.goto(url);
  await page.getByRole("heading", { name: "Order" }).waitFor();
}

/** An agent has filled in the name; a person opens the link of its hand-off. */
async function openHandoff(request: Loose = {}): Promise<{ submissionId: string; resumeToken: string }> {
  const { submissionId, resumeToken } = await create(server, "order", { fields: { name: "Ada" } });
  const { url } = await handOff(server, resumeToken, request);
  await open(url);
  return { submissionId, resumeToken };
}

const saved = () => page.getByText("All changes are saved").waitFor();

describe("the form behind a link", () => {
  it("[PAGES-FORM] shows what the agent filled in, saves what the person types, and submits it", async () => {
    const { submissionId } = await openHandoff({ message: "Please add your address" });
    expect(await page.getByLabel("Name").inputValue()).toBe("Ada");
    await page.getByText("filled in by bot").waitFor();
    await page.getByText("Please add your address").waitFor();
    await page.getByText("1 answer is still needed.").waitFor();
    await page.getByLabel("E-mail").fill("ada@example.com");
    await page.getByLabel("City").fill("Paris");
    await page.getByText("Everything that is needed is here.").waitFor();
    await saved();
    expect((await byId(submissionId)).fields).toEqual({
      name: "Ada",
      email: "ada@example.com",
      address: { city: "Paris" },
    });
    await page.getByRole("button", { name: "Check and submit" }).click();
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByText("Thank you. Your answers were sent.").waitFor();
    const record = await byId(submissionId);
    expect(record.state).toBe("finalized");
    expect(record.attribution["address.city"].actor.kind).toBe("human");
    expect(record.attribution.name.actor.kind).toBe("agent");
    const { events } = (await server.call("GET", `/submissions/${submissionId}/events`, { key: server.adminKey })).body;
    const { hash } = events.find(({ type }: Loose) => type === "submission.submitted");
    await page.getByText(hash).waitFor();
    expect(refused).toEqual([]);
  });

  it("[PAGES-LIVE] shows what the agent writes meanwhile, and leaves what is being typed alone", async () => {
    const { resumeToken } = await openHandoff();
    const email = page.getByLabel("E-mail");
    await email.pressSequentially("ada@exam");
    await filled(server, resumeToken, { amount: 12 });
    await expect.poll(() => page.getByLabel("Amount").inputValue()).toBe("12");
    await email.pressSequentially("ple.com");
    expect(await email.inputValue()).toBe("ada@example.com");
    await saved();
  });

  it("[PAGES-CONFLICT] lets the person choose when both changed a field", async () => {
    const { submissionId, resumeToken } = await openHandoff();
    await page.route("**/fields", (route) => route.abort());
    await page.getByLabel("Name").fill("Ada Lovelace");
    await filled(server, resumeToken, { name: "A. Lovelace" });
    await page.unroute("**/fields");
    await page.getByText("A. Lovelace").waitFor();
    // It waits for the person: the bar must not claim that it is being saved.
    await page.locator('.pg-saving[data-saving="held"]').getByText("Not saved yet").waitFor();
    await page.getByRole("button", { name: "Keep mine" }).click();
    await page.getByText("A. Lovelace").waitFor({ state: "detached" });
    await saved();
    expect((await byId(submissionId)).fields.name).toBe("Ada Lovelace");
  });

  it("[PAGES-RELOAD] keeps what was typed without a connection, over a reload", async () => {
    const { submissionId } = await openHandoff();
    await page.route("**/fields", (route) => route.abort());
    await page.getByLabel("City").fill("Paris");
    await page.getByText("No connection.").waitFor();
    await page.unroute("**/fields");
    await page.reload();
    await page.getByRole("heading", { name: "Order" }).waitFor();
    expect(await page.getByLabel("City").inputValue()).toBe("Paris");
    await saved();
    expect((await byId(submissionId)).fields.address).toEqual({ city: "Paris" });
  });

  it("[PAGES-PUBLIC] a public intake starts with a button, and a scanner that opens the page creates nothing", async () => {
    await open(`${server.url}/forms/order`);
    const count = async () =>
      (await server.call("GET", "/submissions?limit=1000", { key: server.adminKey })).body.items.length;
    const before = await count();
    await page.reload();
    expect(await count()).toBe(before);
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByLabel("Name").fill("Grace");
    await saved();
    expect(await count()).toBe(before + 1);
    await page.reload();
    await page.getByLabel("Name").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Grace");
  });

  it("[PAGES-DIRECT] a direct link survives the writes that rotate its token", async () => {
    const { resumeToken } = await create(server, "order", { fields: { name: "Ada" } });
    await open(`${server.url}/resume/${resumeToken}?utm_source=mail`);
    await page.getByLabel("City").fill("Paris");
    await saved();
    await page.reload();
    await page.getByLabel("City").waitFor();
    expect(await page.getByLabel("City").inputValue()).toBe("Paris");
    expect(page.url()).not.toContain(resumeToken);
    expect((await read(new URL(page.url()).pathname.split("/")[2] ?? "")).fields.address).toEqual({ city: "Paris" });
  });
});
