/** The component in a third-party application built with React, as the documentation shows it. */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { build, type Rolldown } from "vite";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { handOff, inLink } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { type OtherSite, startOtherSite } from "../support/other-site.ts";
import { ROOT } from "../support/pages.ts";
import { create, filled, record } from "../support/submissions.ts";

// A browser may be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let site: OtherSite;
let page: Page;
let complaints: string[];

const ORDER = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name" },
    amount: { type: "number", title: "Amount" },
    lines: { type: "array", title: "Line", items: { type: "string" } },
    proof: { type: "object", title: "Proof", "x-file": { accept: ["text/plain"], maxBytes: 1000 } },
  },
  required: ["name", "amount"],
};

/** Development mode: React reports problems that it would ignore in production, and StrictMode mounts twice. */
async function builtExample(): Promise<Record<string, string>> {
  const { output } = (await build({
    configFile: false,
    logLevel: "error",
    mode: "development",
    root: ROOT,
    oxc: { jsx: { runtime: "automatic", importSource: "react" } },
    build: {
      write: false,
      minify: false,
      rollupOptions: {
        input: join(ROOT, "examples/react-form/main.tsx"),
        output: { entryFileNames: "app.js", assetFileNames: "app.[ext]" },
      },
    },
  })) as Rolldown.RolldownOutput;
  return Object.fromEntries(
    output.map((file) => [`/${file.fileName}`, file.type === "chunk" ? file.code : String(file.source)]),
  );
}

beforeAll(async () => {
  const example = builtExample();
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false }), openBrowser()]);
  site = await startOtherSite(server.url);
  Object.assign(site.files, await example);
  await server.putIntake({ id: "order", name: "Order", schema: ORDER as never });
}, 120_000);
afterEach(() => page?.context().close());
afterAll(async () => {
  await browser?.close();
  await site?.stop();
  await server?.stop();
});

async function open(fields: Loose): Promise<Loose> {
  const made = await create(server, "order", { fields });
  const { url } = await handOff(server, made.resumeToken);
  site.files["/page.html"] = `<!doctype html><html lang="en"><title>Shop</title><link rel="stylesheet" href="app.css" />
<div id="root" data-server="${server.url}" data-submission="${made.submissionId}" data-session="${inLink(url)}"></div>
<script type="module" src="app.js"></script>`;
  ({ page } = await openPage(browser));
  complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // A refused submit is an ordinary response; browsers log it as an error.
    if (message.type() === "error" && !message.text().startsWith("Failed to load")) complaints.push(message.text());
  });
  await page.goto(`${site.url}/page.html`);
  await page.getByLabel("Name").waitFor();
  return made;
}

const saved = () => page.getByText("All changes are saved").waitFor();
const button = (name: string) => page.getByRole("button", { name, exact: true });

describe("FormBridgeForm in a React application", () => {
  it("[FORM-REACT] shows, saves, follows the agent, refuses and submits", async () => {
    const { submissionId, resumeToken } = await open({ name: "Ada" });
    expect(await page.getByLabel("Name").inputValue()).toBe("Ada");
    await filled(server, resumeToken, { name: "Ada Lovelace" });
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Ada Lovelace");
    await button("Submit").click();
    await page.getByText("1 answers need another look.").waitFor();
    await page.getByText("Please fill this in.").waitFor();
    await page.getByLabel("Amount").pressSequentially("12.5");
    await button("Add to Line").click();
    await page.keyboard.type("first");
    await saved();
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("hi") });
    await expect.poll(async () => (await record(server, submissionId)).fields.proof?.filename).toBe("a.txt");
    await button("Submit").click();
    await page.getByText(`Thank you! Your reference is ${submissionId}.`).waitFor();
    const { fields, state, attribution } = await record(server, submissionId);
    expect({ fields, state }).toMatchObject({
      state: "finalized",
      fields: { name: "Ada Lovelace", amount: 12.5, lines: ["first"] },
    });
    expect(attribution.amount.actor).toMatchObject({ kind: "human", proof: "link" });
    await expect.poll(() => page.getByLabel("Name").isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("[FORM-REACT] lets the person choose when both changed a field, and says when the hand-off was revoked", async () => {
    const { submissionId, resumeToken } = await open({ name: "Ada" });
    await page.route("**/fields", (route) => route.abort());
    await page.getByLabel("Name").fill("Mine");
    await filled(server, resumeToken, { name: "Theirs" });
    await page.unroute("**/fields");
    await button("Keep mine").click();
    await saved();
    expect((await record(server, submissionId)).fields.name).toBe("Mine");
    await server.call("POST", `/submissions/${submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
    await page.getByRole("alert").getByText("revoked").waitFor();
  });
});
