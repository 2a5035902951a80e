import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findProgram } from "./services/programs.ts";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** A real browser that can reach nothing beyond this machine. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: findProgram("chromium", "chromium"), args: FLAGS });

/** A page, and what it tried to load from elsewhere, which tests expect to be nothing. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; refused: string[] }> {
  const context = await browser.newContext({ viewport: { width: 760, height: 900 }, ...options });
  context.setDefaultTimeout(30_000);
  const refused: string[] = [];
  await context.route("**/*", async (route) => {
    const { hostname, href } = new URL(route.request().url());
    if (LOOPBACK.has(hostname)) return await route.continue();
    refused.push(href);
    await route.abort();
  });
  return { page: await context.newPage(), refused };
}
