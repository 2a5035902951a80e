import { isDeepStrictEqual } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { create } from "../support/submissions.ts";
import { type GeneratedForm, generateForms } from "./generated-schemas.ts";
import { Robot } from "./robot.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const COUNT = isLong ? 300 : 20;
const SEED = 20_260_301;

vi.setConfig({ testTimeout: isLong ? 1_800_000 : 180_000 });

let server: TestServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false }), openBrowser()]);
  ({ page } = await openPage(browser));
  page.setDefaultTimeout(30_000);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const stored = async (submissionId: string): Promise<Loose> =>
  (await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey })).body.fields;

/** Types everything into a new form, and returns what is stored afterwards. */
async function storedAfterTyping({ schema, typed }: GeneratedForm, index: number): Promise<unknown> {
  const id = `generated-${index}`;
  const { status, body } = await server.putIntake({ id, name: id, schema: schema as never });
  expect(status, JSON.stringify(body)).toBe(201);
  const { submissionId, resumeToken } = await create(server, id, {});
  await page.goto(`${server.url}/resume/${resumeToken}`);
  await page.getByRole("heading", { name: id }).waitFor();
  const robot = new Robot(page);
  for (const [name, value] of Object.entries(typed)) await robot.fillIn(value, [name]);
  await page.getByText("All changes are saved").waitFor();
  return await stored(submissionId);
}

describe("forms of generated schemas", () => {
  it("[FORM-TYPED] stores exactly what was typed through the page, and nothing that nobody typed", async () => {
    const wrong: Loose[] = [];
    for (const [index, form] of generateForms(COUNT, SEED).entries()) {
      const found = await storedAfterTyping(form, index).catch(String);
      if (!isDeepStrictEqual(found, form.typed)) wrong.push({ index, found, ...form });
    }
    expect(wrong).toEqual([]);
  });
});
