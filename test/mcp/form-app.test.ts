import type { Client } from "@modelcontextprotocol/client";
import axe, { type AxeResults } from "axe-core";
import type { Browser, FrameLocator } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { type AppHost, showApp } from "../support/app-host.ts";
import { openBrowser } from "../support/browser.ts";
import { createMailbox } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { bodyOf, connectMcp, done } from "../support/mcp-host.ts";

const UI = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
const FORM_URI = "ui://formbridge/form";
const PDF = Buffer.from("%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n");

// A browser may be slow on a busy machine.
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

/** A browser on a busy machine, and a form that is reached through its host. */
const PATIENT = { timeout: 20_000 };
const saved = (app: FrameLocator) => app.getByText("All changes are saved").waitFor();
const check = (app: FrameLocator) => app.getByRole("button", { name: "Check and submit" }).click();

/** Few choices are buttons, more are a list. */
async function choose(app: FrameLocator, label: string, option: string): Promise<void> {
  const group = app.getByRole("radiogroup", { name: label });
  if ((await group.count()) > 0) await group.getByLabel(option).check();
  else await app.getByLabel(label).selectOption(option);
}

const GRACE = { kind: "human", id: "grace", name: "Grace" } as const;

it("[MCP-APP-RESOURCE] [MCP-APP-ONLY] the form is one document that loads nothing, and only the app can call its tool", async () => {
  const { resources } = await agent.listResources();
  expect(resources.find(({ uri }) => uri === FORM_URI)?.mimeType).toBe("text/html;profile=mcp-app");
  const { contents } = await agent.readResource({ uri: FORM_URI });
  const [{ text, _meta }] = contents as [Loose];
  expect(_meta.ui.csp).toEqual({ connectDomains: [server.url], resourceDomains: [] });
  expect(text).toContain("default-src 'none'");
  const [before, , after] = text.split(/(<script type="module">.*<\/script>)/s);
  expect(before + after).not.toMatch(/\b(?:src|href)=|@import|url\(|unsafe-inline/);
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

it("[MCP-APP-FIELDS] [MCP-APP-ERRORS] [MCP-APP-HUMAN-ONLY] [MCP-APP-ACTOR] [MCP-APP-SUBMIT] [MCP-APP-TELLS] [MCP-APP-NUMBERS] [AUDIT-P11] a human fills what is left, signs, and submits", async () => {
  const fields = { full_name: "Grace Hopper", department: "engineering" };
  const { host, submissionId, read } = await openForm("compliance-declaration", fields, {
    allowedActors: [GRACE],
    message: "Please read and sign.",
  });
  const { app } = host;
  await app.getByText("Please read and sign.").waitFor();
  await expect.poll(() => app.getByLabel("Full name").inputValue()).toBe("Grace Hopper");
  await app.getByText("filled in by onboarding_bot").first().waitFor();
  await app.getByLabel("Year").fill("next");
  await app
    .getByRole("radiogroup", { name: /close relative/ })
    .getByLabel("Yes")
    .check();
  await app.getByRole("button", { name: /Add/ }).click();
  await app.getByLabel("Organisation").fill("Acme");
  await choose(app, "Kind of interest", "Shares");
  await check(app);
  const year = app.getByLabel("Year");
  await expect.poll(() => year.getAttribute("aria-invalid"), PATIENT).toBe("true");
  const described = (await year.getAttribute("aria-describedby"))?.split(" ") ?? [];
  const texts = await Promise.all(described.map((id) => app.locator(`[id="${id}"]`).allTextContents()));
  expect(texts.flat().join(" ")).toContain("This has the wrong format.");
  // Values that can be stored are stored, even if invalid.
  expect((await read()).fields).toMatchObject({ year: "next", conflict_details: [{ organisation: "Acme" }] });
  await expect.poll(() => host.told.join("\n"), PATIENT).toContain("it was not submitted");

  await year.fill("2026");
  await app.getByLabel("Share in percent").fill("2.5");
  await app.getByLabel("How the conflict is handled").fill("I take no part.");
  await app.getByRole("textbox", { name: "Signature" }).fill("Grace Hopper");
  await app.getByLabel("Date").fill("2026-03-01");
  await saved(app);
  const { attribution } = await read();
  expect(attribution.signature.actor).toEqual({ ...GRACE, proof: "link" });
  expect(attribution.full_name.actor).toMatchObject({ kind: "agent", id: "onboarding_bot" });
  await check(app);
  await app.getByRole("button", { name: "Submit", exact: true }).dblclick();
  await app.getByText("Thank you. Your answers were sent.").waitFor();
  const record = await read();
  expect(record).toMatchObject({ state: "finalized", lastUpdatedBy: GRACE });
  const { events } = await done(agent, "formbridge_compliance-declaration_events", { submissionId, limit: 100 });
  const submits = events.filter(({ type }: Loose) => type === "submission.submitted");
  expect(submits).toMatchObject([{ actor: { kind: "human", id: "grace" } }]);
  await expect.poll(() => host.told.join("\n"), PATIENT).toContain("submitted the form");
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
  await app.getByRole("button", { name: "Remove w9.pdf" }).waitFor();
  const papers = [file, { ...file, name: "iso.pdf" }];
  await app.getByLabel("Insurance and quality certificates").setInputFiles(papers);
  await app.getByRole("button", { name: "Remove iso.pdf" }).waitFor();
  await saved(app);
  const { fields, attribution } = await read();
  expect(fields).toMatchObject({ trading_name: "Acme Tools", w9_document: { filename: "w9.pdf" } });
  expect(fields.certificates.map(({ filename }: Loose) => filename)).toEqual(["w9.pdf", "iso.pdf"]);
  expect(attribution.w9_document.actor.kind).toBe("human");
  await app.getByRole("button", { name: "Remove iso.pdf" }).click();
  await app.getByRole("button", { name: "Remove iso.pdf" }).waitFor({ state: "detached" });
  await saved(app);
  expect((await read()).fields.certificates).toHaveLength(1);
  const wrong = { name: "w9.pdf", mimeType: "application/pdf", buffer: Buffer.from("no paper at all") };
  await app.getByLabel("Form W-9").setInputFiles(wrong);
  await app.locator("[data-path=w9_document]").getByText("could not be sent").waitFor();
  expect(host.refused).toEqual([]);
});

it("[MCP-APP-CONFLICT] [AUDIT-P11] both values are shown when the agent wrote meanwhile, and the person chooses", async () => {
  const { host, submissionId, read } = await openForm("vendor-onboarding", { legal_name: "Acme", country: "US" });
  const { app } = host;
  await app.getByLabel("Trading name").pressSequentially("Acme Tools");
  const { resumeToken } = await read();
  const fields = { website: "https://acme.example", trading_name: "ACME" };
  const set = await agent.callTool({
    name: "formbridge_vendor-onboarding_set",
    arguments: { resumeToken, submissionId, fields },
  });
  expect(bodyOf(set).ok).toBe(true);
  await app.getByLabel("Trading name").pressSequentially("!");
  await expect.poll(() => app.getByLabel("Website").inputValue(), PATIENT).toBe("https://acme.example");
  const choice = app.getByRole("group", { name: /changed this too/ });
  await choice.getByText("Acme Tools!", { exact: true }).waitFor();
  await choice.getByText("ACME", { exact: true }).waitFor();
  await choice.getByRole("button", { name: "Keep mine" }).click();
  await saved(app);
  expect((await read()).fields).toMatchObject({ ...fields, trading_name: "Acme Tools!" });
});

it("[MCP-APP-CODE] the form of a magic link asks for address and code, and the code identifies the human", async () => {
  const { host, read } = await openForm(
    "compliance-declaration",
    {},
    { kind: "magic_link", recipientEmail: "jane@example.com" },
  );
  const { app } = host;
  await app.getByLabel("Your e-mail address").fill("jane@example.com");
  await app.getByLabel("Code").fill("0000000000");
  await app.getByLabel("Code").press("Enter");
  await app.getByRole("alert").getByText(/./).waitFor();
  await app.getByLabel("Code").fill(mailbox.lastCode());
  await app.getByRole("button", { name: "Open the form" }).click();
  await app.getByRole("textbox", { name: "Signature" }).fill("Jane");
  await expect.poll(async () => (await read()).fields.signature, PATIENT).toBe("Jane");
  expect((await read()).attribution.signature.actor).toMatchObject({ kind: "human", id: "jane@example.com" });
});

/** What axe reports about the form itself, run inside its frame. */
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
  await app.getByRole("button", { name: "Check and submit" }).waitFor();
  for (const theme of ["light", "dark"] as const) {
    await host.bridge.setHostContext({ theme });
    await app.locator(`html[data-theme=${theme}]`).waitFor();
    await check(app);
    await app.getByText("Please fill this in.").first().waitFor();
    // Only colours differ from one theme to the other.
    expect(await problemsIn(host, theme === "light" ? undefined : ["color-contrast"])).toEqual([]);
  }
  const first = app.locator("input, select, textarea").first();
  await first.focus();
  await page.keyboard.type("Ada");
  for (let presses = 0; presses < 40; presses++) {
    if ((await app.locator(":focus").textContent()) === "Check and submit") break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await saved(app);
  expect(Object.values((await read()).fields)).toEqual(["Ada"]);
});
