import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { handOff } from "../support/handoffs.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { ROOT } from "../support/pages.ts";
import { create } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let page: Page;

const example = (id: string) => JSON.parse(readFileSync(join(ROOT, `examples/intakes/${id}.json`), "utf8"));

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false }), openBrowser()]);
  const { translations: _none, ...untranslated } = example("contact");
  await server.putIntake({ ...example("vendor-onboarding"), id: "vendor" });
  await server.putIntake({ ...untranslated, id: "untranslated" });
});
afterEach(() => page?.context().close());
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const FIELDS = {
  legal_name: "Acme Supplies (UK) Ltd.",
  country: "DE",
  website: "https://acme.example/impressum",
  payment_terms: "net_30",
};

async function openVendor(options: BrowserContextOptions): Promise<void> {
  const { resumeToken } = await create(server, "vendor", { fields: FIELDS });
  const { url } = await handOff(server, resumeToken, { message: "Bitte ergänzen." });
  ({ page } = await openPage(browser, options));
  await page.goto(url);
  await page.getByRole("heading", { level: 1 }).waitFor();
}

const root = () =>
  page.evaluate<{ lang: string; dir: string }>("(({ lang, dir }) => ({ lang, dir }))(document.documentElement)");

type Styled = { getComputedStyle(element: unknown): Record<string, string> };
const styleOf = (locator: Locator, names: readonly string[]) =>
  locator.evaluate((element, wanted) => {
    const style = (globalThis as unknown as Styled).getComputedStyle(element);
    return wanted.map((name) => style[name]);
  }, names);

/** Elements that overflow the page at either side. */
const overflowing = () =>
  page.evaluate<string[]>(`(() => {
    const width = document.documentElement.clientWidth;
    const isOut = (each) => {
      const { left, right, width: own } = each.getBoundingClientRect();
      return own > 1 && (left < -1 || right > width + 1);
    };
    const found = [...document.querySelectorAll("body *")].filter(isOut).map((each) => each.outerHTML.slice(0, 120));
    return document.documentElement.scrollWidth > width ? ["the page scrolls sideways", ...found] : found;
  })()`);

describe("a page in the reader's language", () => {
  it("[PAGES-LANGUAGES] Hebrew runs from right to left, in every view and at 320 px", async () => {
    await openVendor({ locale: "he-IL", viewport: { width: 320, height: 640 } });
    expect(await root()).toEqual({ lang: "he-IL", dir: "rtl" });
    await page.getByRole("heading", { name: "קליטת ספק" }).waitFor();
    const label = page.getByText("שם החברה הרשום");
    expect(await styleOf(label, ["direction"])).toEqual(["rtl"]);
    expect(await overflowing()).toEqual([]);
  });

  it.each(["de-DE", "ja-JP"])("[PAGES-LANGUAGES] nothing sticks out at 320 px in %s", async (locale) => {
    await openVendor({ locale, viewport: { width: 320, height: 640 } });
    expect(await overflowing()).toEqual([]);
    await page.getByRole("button", { name: locale === "de-DE" ? "Mehr" : "その他" }).click();
    await page.getByRole("button", { name: locale === "de-DE" ? "Später fortfahren" : "後で続ける" }).click();
    await page.getByRole("img").last().waitFor();
    expect(await overflowing()).toEqual([]);
  });

  it("[PAGES-LANGUAGES] an intake's texts fall back from pt-BR to pt, and from there to its own", async () => {
    await openVendor({ locale: "pt-BR" });
    expect(await root()).toEqual({ lang: "pt-BR", dir: "ltr" });
    await page.getByRole("heading", { name: "Cadastro de fornecedor" }).waitFor();
    await page.getByText("Como registrada, com a forma jurídica.").waitFor();
    expect(await page.getByText("As registered").count()).toBe(0);
    await page.goto(`${server.url}/forms/untranslated`);
    await page.getByRole("heading", { name: "Contact us" }).waitFor();
    await page.getByRole("button", { name: "Começar" }).waitFor();
  });

  it("[PAGES-LANGUAGES] the front door names its forms in the reader's language, too", async () => {
    ({ page } = await openPage(browser, { locale: "de-AT" }));
    await page.goto(server.url);
    await page.getByRole("link", { name: "Kontakt" }).waitFor();
    await page.getByText("Eine Nachricht an unser Team.").waitFor();
    await page.getByRole("link", { name: "Contact us" }).waitFor();
  });

  it("[PAGES-LANGUAGES] says in every language that it needs JavaScript", async () => {
    ({ page } = await openPage(browser, { javaScriptEnabled: false }));
    await page.goto(`${server.url}/forms/untranslated`);
    await page.getByRole("heading", { name: "This form needs JavaScript" }).waitFor();
    expect(await page.getByRole("heading", { level: 2 }).count()).toBe(6);
    await page.goto(`${server.url}/review`);
    await page.getByRole("heading", { name: "This page needs JavaScript" }).waitFor();
    expect(await page.getByRole("heading", { level: 2 }).count()).toBe(6);
  });

  it("moves nothing for those who want no motion, and keeps its borders in forced colors", async () => {
    await openVendor({ reducedMotion: "reduce", forcedColors: "active" });
    const button = page.getByRole("button").first();
    const style = await styleOf(button, ["transitionDuration", "borderTopStyle", "borderTopWidth"]);
    expect(style).toEqual(["0s", "solid", "1px"]);
  });
});
