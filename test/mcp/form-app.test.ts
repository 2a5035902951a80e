import type { Client } from "@modelcontextprotocol/client";
import axe, { type AxeResults } from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { type AppHost, showApp } from "../support/app-host.ts";
import { openBrowser } from "../support/browser.ts";
import { createMailbox } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { bodyOf, connectMcp, done } from "../support/mcp-host.ts";

const UI = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
const FORM_URI = "ui://formbridge/form";
const PDF = Buffer.from("%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n");

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 90_000 });

const mailbox = createMailbox();
let server: TestServer;
let browser: Browser;
let agent: Client;
let key: string;
let host: AppHost | undefined;

beforeAll(async () => {
  [server, browser] = await Promise.all([
    startTestServer({ env: { FORMBRIDGE_INTAKES: "examples/intakes" }, mailer: mailbox }),
    openBrowser(),
  ]);
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "onboarding_bot" } });
  agent = await connectMcp(server, { key, capabilities: UI });
});
afterEach(async () => {
  await host?.close();
  host = undefined;
});
afterAll(async () => {
  await agent?.close();
  await browser?.close();
  await server?.stop();
});

interface Opened {
  host: AppHost;
  submissionId: string;
  /** What the server has of it now, as the agent reads it. */
  read(): Promise<Loose>;
}

/** The agent starts a submission, hands over, and the host shows the form. */
async function openForm(intake: string, initialFields: object, handoff: Record<string, unknown> = {}): Promise<Opened> {
  const tool = (suffix: string) => `formbridge_${intake}_${suffix}`;
  const { submissionId, resumeToken } = await done(agent, tool("create"), { initialFields });
  const args = { resumeToken, ...handoff };
  const result = await agent.callTool({ name: tool("handoff"), arguments: args });
  const { contents } = await agent.readResource({ uri: FORM_URI });
  const [content] = contents as Loose[];
  const shown = { html: content.text, connect: content._meta.ui.csp.connectDomains };
  const made = await showApp(browser, agent, { ...shown, call: { arguments: args, result: result as Loose } });
  host = made;
  return { host: made, submissionId, read: () => done(agent, tool("status"), { submissionId, verbose: true }) };
}

const GRACE = { kind: "human", id: "grace", name: "Grace" } as const;

it("[MCP-APP-RESOURCE] [MCP-APP-ONLY] the form is one document without loads, and its tool is the app's alone", async () => {
  const { resources } = await agent.listResources();
  expect(resources.find(({ uri }) => uri === FORM_URI)?.mimeType).toBe("text/html;profile=mcp-app");
  const { contents } = await agent.readResource({ uri: FORM_URI });
  const [{ text, _meta }] = contents as [Loose];
  expect(_meta.ui.csp).toEqual({ connectDomains: [server.url], resourceDomains: [] });
  expect(text).toContain("default-src 'none'");
  expect(text).not.toMatch(/\b(?:src|href)=|@import|url\(|unsafe-inline/);
  const { tools } = await agent.listTools();
  const form = tools.find(({ name }) => name === "formbridge_form");
  expect(form?._meta?.ui).toEqual({ resourceUri: FORM_URI, visibility: ["app"] });
  const handoffs = tools.filter(({ name }) => name.endsWith("_handoff"));
  expect(handoffs.length).toBeGreaterThan(0);
  for (const { _meta } of handoffs) expect(_meta?.ui).toEqual({ resourceUri: FORM_URI });
  const plain = await connectMcp(server, { key });
  expect((await plain.listTools()).tools.map(({ name }) => name)).not.toContain("formbridge_form");
  await plain.close();
});

it("[MCP-APP-FIELDS] [MCP-APP-ERRORS] [MCP-APP-HUMAN-ONLY] [MCP-APP-ACTOR] [MCP-APP-SUBMIT] [MCP-APP-TELLS] a human fills what is left, signs, and submits", async () => {
  const fields = { full_name: "Grace Hopper", department: "engineering" };
  const { host, submissionId, read } = await openForm("compliance-declaration", fields, {
    allowedActors: [GRACE],
    message: "Please read and sign.",
  });
  const { app } = host;
  await app.getByText("Please read and sign.").waitFor();
  await expect.poll(() => app.getByLabel("Full name").inputValue()).toBe("Grace Hopper");
  await app.getByText("Filled in by onboarding_bot (agent)").first().waitFor();
  await app.getByLabel("Year").fill("next");
  await app
    .getByRole("group", { name: /close relative/ })
    .getByLabel("Yes")
    .check();
  await app.getByRole("button", { name: "Add to interests" }).click();
  await app.getByLabel("Organisation").fill("Acme");
  await app.getByLabel("Kind of interest").selectOption("Shares");
  await app.getByRole("button", { name: "Submit" }).click();
  const summary = app.getByRole("alert");
  await summary.getByText("5 fields need your attention").waitFor();
  expect(await summary.getByRole("button").allTextContents()).toEqual([
    "Year",
    "Share in percent",
    "How the conflict is handled",
    "Signature",
    "Date",
  ]);
  const year = app.getByLabel("Year");
  expect(await year.getAttribute("aria-invalid")).toBe("true");
  const described = (await year.getAttribute("aria-describedby"))?.split(" ") ?? [];
  const texts = await Promise.all(described.map((id) => app.locator(`[id="${id}"]`).textContent()));
  expect(texts.join(" ")).toContain("Must be a whole number");
  // What could be kept was kept, wrong as it may be.
  expect((await read()).fields).toMatchObject({ year: "next", conflict_details: [{ organisation: "Acme" }] });

  await year.fill("2026");
  await app.getByLabel("Share in percent").fill("2.5");
  await app.getByLabel("How the conflict is handled").fill("I take no part.");
  await app.getByRole("textbox", { name: "Signature" }).fill("Grace Hopper");
  await app.getByLabel("Date").fill("2026-03-01");
  await app.getByRole("button", { name: "Save" }).click();
  await app.getByText("Saved", { exact: true }).waitFor();
  const { attribution } = await read();
  expect(attribution.signature.actor).toEqual(GRACE);
  expect(attribution.full_name.actor).toMatchObject({ kind: "agent", id: "onboarding_bot" });
  await app.getByRole("button", { name: "Submit" }).dblclick();
  await app.getByText("Thank you, the form was sent. It has arrived.").waitFor();
  const record = await read();
  expect(record).toMatchObject({ state: "finalized", lastUpdatedBy: GRACE });
  const { events } = await done(agent, "formbridge_compliance-declaration_events", { submissionId, limit: 100 });
  const submits = events.filter(({ type }: Loose) => type === "submission.submitted");
  expect(submits).toMatchObject([{ actor: { kind: "human", id: "grace" } }]);
  expect(host.told.join("\n")).toContain("submitted");
  expect(host.told.join("\n")).not.toMatch(/Hopper|Acme|no part/);
  expect([host.complaints, host.refused]).toEqual([[], []]);
});

it("[MCP-APP-HUMAN-ONLY] [MCP-APP-ACTOR] the agent can't sign, and the form's tool knows no one but the session", async () => {
  const { submissionId, resumeToken } = await done(agent, "formbridge_compliance-declaration_create", {});
  const signed = { resumeToken, fields: { signature: "Grace" }, actor: GRACE };
  for (const args of [{ resumeToken, fields: { signature: "Grace" } }, signed]) {
    const result = await agent.callTool({ name: "formbridge_compliance-declaration_set", arguments: args });
    expect(bodyOf(result).ok).toBe(false);
  }
  for (const session of [undefined, `sess_${"A".repeat(43)}`, resumeToken, key]) {
    for (const action of ["open", "read", "save", "submit"]) {
      const args = { action, submissionId, version: 1, idempotencyKey: "k", fields: {}, session };
      const result = await agent.callTool({ name: "formbridge_form", arguments: JSON.parse(JSON.stringify(args)) });
      expect(bodyOf(result).ok).toBe(false);
    }
  }
  const odd = {
    action: "upload",
    submissionId,
    session: `sess_${"A".repeat(43)}`,
    field: "x",
    filename: "x",
    sizeBytes: 1,
  };
  const result = await agent.callTool({ name: "formbridge_form", arguments: { ...odd, mimeType: "a/b\r\nx: y" } });
  expect(bodyOf(result).error).toMatchObject({ type: "bad_request", fields: [{ path: "mimeType" }] });
  const { version, state } = await done(agent, "formbridge_compliance-declaration_status", { submissionId });
  expect({ version, state }).toEqual({ version: 1, state: "draft" });
});

it("[MCP-APP-UPLOAD] a file goes straight to the server, is shown, and can be taken back", async () => {
  const { host, read } = await openForm("vendor-onboarding", { legal_name: "Acme", country: "US" });
  const { app } = host;
  const file = { name: "w9.pdf", mimeType: "application/pdf", buffer: PDF };
  await app.getByLabel("Trading name").fill("Acme Tools");
  await app.getByLabel("Form W-9").setInputFiles(file);
  await app.getByText("w9.pdf (1 KB)").waitFor();
  await app.getByText("Done", { exact: true }).waitFor();
  const papers = [file, { ...file, name: "iso.pdf" }];
  await app.getByLabel("Insurance and quality certificates").setInputFiles(papers);
  await app.getByRole("button", { name: "Remove iso.pdf" }).waitFor();
  const { fields, attribution } = await read();
  expect(fields).toMatchObject({ trading_name: "Acme Tools", w9_document: { filename: "w9.pdf" } });
  expect(fields.certificates.map(({ filename }: Loose) => filename)).toEqual(["w9.pdf", "iso.pdf"]);
  expect(attribution.w9_document.actor.kind).toBe("human");
  await app.getByRole("button", { name: "Remove iso.pdf" }).click();
  await app.getByRole("button", { name: "Remove iso.pdf" }).waitFor({ state: "detached" });
  expect((await read()).fields.certificates).toHaveLength(1);
  const wrong = { name: "w9.pdf", mimeType: "application/pdf", buffer: Buffer.from("no paper at all") };
  await app.getByLabel("Form W-9").setInputFiles(wrong);
  await app.locator("[data-path=w9_document] .error", { hasText: "is text/plain, not application/pdf" }).waitFor();
  expect(await app.getByLabel("Form W-9").getAttribute("aria-invalid")).toBe("true");
  expect(host.refused).toEqual([]);
});

it("[MCP-APP-CONFLICT] what was typed stays when the agent wrote meanwhile", async () => {
  const { host, submissionId, read } = await openForm("vendor-onboarding", { legal_name: "Acme", country: "US" });
  const { app } = host;
  await app.getByLabel("Trading name").fill("Acme Tools");
  const { resumeToken } = await read();
  const fields = { website: "https://acme.example", trading_name: "ACME" };
  await done(agent, "formbridge_vendor-onboarding_set", { resumeToken, submissionId, fields });
  await app.getByRole("button", { name: "Save" }).click();
  await app.getByText(/Somebody else changed this form/).waitFor();
  expect(await app.getByLabel("Website").inputValue()).toBe("https://acme.example");
  expect(await app.getByLabel("Trading name").inputValue()).toBe("Acme Tools");
  await app.getByRole("button", { name: "Save" }).click();
  await app.getByText("Saved", { exact: true }).waitFor();
  expect((await read()).fields).toMatchObject({ ...fields, trading_name: "Acme Tools" });
});

it("[MCP-APP-CODE] the form of a magic link asks for address and code, and the code makes the human known", async () => {
  const { host, read } = await openForm(
    "compliance-declaration",
    {},
    { kind: "magic_link", recipientEmail: "jane@example.com" },
  );
  const { app } = host;
  await app.getByLabel("Your e-mail address").fill("jane@example.com");
  await app.getByLabel("The code").fill("0000000000");
  await app.getByLabel("The code").press("Enter");
  await app.getByRole("alert").getByText(/./).waitFor();
  await app.getByLabel("The code").fill(mailbox.lastCode());
  await app.getByRole("button", { name: "Open" }).click();
  await app.getByRole("textbox", { name: "Signature" }).fill("Jane");
  await app.getByRole("button", { name: "Save" }).click();
  await app.getByText("Saved", { exact: true }).waitFor();
  expect((await read()).attribution.signature.actor).toMatchObject({ kind: "human", id: "jane@example.com" });
});

/** What axe has to say about the form itself, run inside of its frame. */
async function problemsIn({ page }: AppHost, rules?: string[]): Promise<unknown[]> {
  const frame = page.frames().find((each) => each.url().endsWith("/app"));
  if (frame === undefined) throw new Error("there is no form");
  await frame.evaluate(axe.source);
  const { violations, passes } = await frame.evaluate<AxeResults>(`axe.run(${JSON.stringify({ runOnly: rules })})`);
  expect(passes.length).toBeGreaterThan(0);
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

it("[MCP-APP-ACCESSIBLE] the form is filled and sent by keyboard alone, and axe finds nothing in either theme", async () => {
  const { host, read } = await openForm("contact", {});
  const { app, page } = host;
  await app.getByRole("button", { name: "Submit" }).waitFor();
  for (const theme of ["light", "dark"] as const) {
    await host.bridge.setHostContext({ theme });
    await app.locator(`html[data-theme=${theme}]`).waitFor();
    await app.getByRole("button", { name: "Submit" }).click();
    await app.getByRole("alert").waitFor();
    // Only colours differ from one theme to the other.
    expect(await problemsIn(host, theme === "light" ? undefined : ["color-contrast"])).toEqual([]);
  }
  const first = app.locator("input, select, textarea").first();
  await first.focus();
  await page.keyboard.type("Ada");
  for (let presses = 0; presses < 40; presses++) {
    if ((await app.locator(":focus").textContent()) === "Save") break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await app.getByText("Saved", { exact: true }).waitFor();
  expect(Object.values((await read()).fields)).toEqual(["Ada"]);
});
