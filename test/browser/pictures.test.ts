/**
 * The story that the README shows in pictures, played in a browser: an agent begins a form, a person finishes it, a
 * reviewer approves it. `UPDATE_PICTURES=1` rewrites the pictures; without it the test only makes sure that what they show is there.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { handOff } from "../support/handoffs.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { ROOT, read } from "../support/pages.ts";
import { reviewerKey } from "../support/reviews.ts";
import { create } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const MAX_BYTES = 150_000;
const SIZE = { width: 900, height: 780 };
const BOT = { kind: "agent", id: "onboarding_bot", name: "Onboarding assistant" } as const;
const BEGUN = {
  legal_name: "Acme Supplies GmbH",
  country: "DE",
  website: "https://acme.example",
  contact: { name: "Erika Muster", email: "billing@acme.example", phone: "+493012345678" },
  address: { street: "Hauptstr. 1", city: "Berlin", postal_code: "10115" },
  payment_terms: "net_30",
  annual_spend_usd: 48000,
};

let server: TestServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false }), openBrowser()]);
  const vendor = JSON.parse(readFileSync(join(ROOT, "examples/intakes/vendor-onboarding.json"), "utf8"));
  await server.putIntake({ ...vendor, id: "vendor" });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const pathOf = (name: string): string => `docs/images/${name}.png`;

async function picture(name: string): Promise<void> {
  if (process.env.UPDATE_PICTURES !== "1") return;
  await page.screenshot({ path: join(ROOT, pathOf(name)), animations: "disabled" });
}

describe("the README's pictures", () => {
  it("show existing pages", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: BOT });
    const { resumeToken } = await create(server, "vendor", { fields: BEGUN, key });
    const message = "I have filled in what I know. Only your tax ID is missing.";
    const { url } = await handOff(server, resumeToken, { message, actor: BOT });
    ({ page } = await openPage(browser, { viewport: SIZE, locale: "en-GB" }));
    await page.goto(url);
    await page.getByText(message).waitFor();
    await page.getByText("filled in by Onboarding assistant").first().waitFor();
    await picture("form");
    await page.getByLabel("Tax ID").fill("DE123456789");
    await page.getByText("All changes are saved").waitFor();
    for (const name of ["Next", "Next", "Check and submit", "Submit"])
      await page.getByRole("button", { name, exact: true }).click();
    await page.getByText("Thank you. Your answers were sent.").waitFor();
    await page.getByText("Fingerprint", { exact: true }).waitFor();
    await page.evaluate("scrollTo(0, 0)");
    await picture("receipt");
    await page.goto(`${server.url}/review`);
    await page.getByLabel("Key").fill(await reviewerKey(server, "rosa"));
    await page.getByRole("button", { name: "Open" }).click();
    await page
      .getByRole("button", { name: /^Review / })
      .first()
      .click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await page.evaluate("scrollTo(0, 0)");
    await picture("review");
    await page.context().close();
  });

  it.each(["form", "receipt", "review"])("%s.png is small, and shown", (name) => {
    expect(existsSync(join(ROOT, pathOf(name)))).toBe(true);
    expect(statSync(join(ROOT, pathOf(name))).size).toBeLessThan(MAX_BYTES);
    expect(`${read("README.md")}${read("docs/get-started.md")}`).toContain(`images/${name}.png`);
  });
});
