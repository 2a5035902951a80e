import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openBrowser, openPage } from "../support/browser.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { create } from "../support/submissions.ts";

vi.setConfig({ testTimeout: 90_000 });

let server: TestServer;
let browser: Browser;
let page: Page;
let submissionId: string;
let count = 0;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ fakeClock: false }), openBrowser()]);
});
beforeEach(async () => {
  await page?.context().close();
  ({ page } = await openPage(browser));
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens the form of a schema, in which an agent has filled in some fields. */
async function openForm(definition: Loose, fields: Record<string, unknown> = {}): Promise<void> {
  count += 1;
  const id = `engine-${count}`;
  const { status, body } = await server.putIntake({ id, name: id, ...definition });
  expect(status, JSON.stringify(body)).toBe(201);
  const created = await create(server, id, { fields });
  submissionId = created.submissionId;
  await page.goto(`${server.url}/resume/${created.resumeToken}`);
  await page.locator(".fb-form").waitFor();
}

const at = (path: string): Locator => page.locator(`[data-path="${path}"]`);
const button = (name: string): Locator => page.getByRole("button", { name, exact: true });

async function stored(): Promise<Loose> {
  await page.getByText("All changes are saved").waitFor();
  return (await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey })).body.fields;
}

describe("lists", () => {
  const people = {
    schema: {
      type: "object",
      properties: {
        people: { type: "array", title: "People", items: { type: "object", properties: { name: { type: "string" } } } },
      },
    },
  };
  const names = async () => ((await stored()).people ?? []).map(({ name }: Loose) => name);

  it("[FORM-LISTS] can be extended, reordered and shortened by keyboard, and the focus follows", async () => {
    await openForm(people);
    for (const name of ["Ada", "Grace", "Alan"]) {
      await button("Add to People").press("Enter");
      await page.keyboard.type(name);
    }
    await expect.poll(names, { timeout: 30_000 }).toEqual(["Ada", "Grace", "Alan"]);
    await button("Move up 3").press("Enter");
    expect(await page.locator(":focus").getAttribute("aria-label")).toBe("Move up 2");
    await page.keyboard.press("Enter");
    await expect.poll(names, { timeout: 30_000 }).toEqual(["Alan", "Ada", "Grace"]);
    await button("Remove 2").press("Enter");
    expect(await page.locator(":focus").getAttribute("aria-label")).toBe("Remove 2");
    await expect.poll(names, { timeout: 30_000 }).toEqual(["Alan", "Grace"]);
  });

  it("[FORM-LISTS] store no empty rows, and removing a row also removes what was typed into it last", async () => {
    await openForm(people, { people: [{ name: "Ada" }, { name: "Grace" }] });
    await button("Add to People").click();
    await at("people.0.name").locator("input").fill("Somebody");
    await button("Remove 1").click();
    await expect.poll(names, { timeout: 30_000 }).toEqual(["Grace"]);
    await at("people.0.name").locator("input").fill("");
    await at("people.0.name").locator("input").blur();
    await expect.poll(names, { timeout: 30_000 }).toEqual([]);
  });
});

describe("choices", () => {
  const MANY = Array.from({ length: 5000 }, (_, index) => `Town ${index}`);

  it("[FORM-DRAWN] of 5,000 are searched, one or several", async () => {
    const towns = { type: "array", title: "Towns", uniqueItems: true, items: { enum: MANY } };
    await openForm({ schema: { type: "object", properties: { home: { title: "Home", enum: MANY }, towns } } });
    const home = page.getByRole("combobox", { name: "Home" });
    await home.fill("town 4999");
    await home.press("Enter");
    expect(await home.inputValue()).toBe("Town 4999");
    const many = page.getByRole("combobox", { name: "Towns" });
    for (const wanted of ["Town 77", "Town 3"]) {
      await many.fill(wanted);
      await many.press("Enter");
    }
    await many.press("Escape");
    expect(await stored()).toEqual({ home: "Town 4999", towns: ["Town 3", "Town 77"] });
    await button("Remove Town 3").click();
    expect((await stored()).towns).toEqual(["Town 77"]);
  });
});

describe("steps", () => {
  it("[FORM-DRAWN] show only their fields, with nested paths, and nothing of the others", async () => {
    const group = (...names: string[]) => ({
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    });
    const steps = [
      { id: "one", title: "One", fields: ["who.name"] },
      { id: "two", title: "Two", fields: ["who.mail", "where"] },
    ];
    await openForm({
      schema: { type: "object", properties: { who: group("name", "mail"), where: group("city"), rest: group("x") } },
      uiHints: { steps, fieldHints: { "who.mail": { order: 1, label: "Your mail", help: "We write rarely." } } },
    });
    const paths = () =>
      page.locator("[data-path]").evaluateAll((all) => all.map((each) => each.getAttribute("data-path")));
    expect(await paths()).toEqual(["who", "who.name"]);
    const boxes = await page.locator(".fb-form > .fb-fields > *").count();
    expect(boxes).toBe(1);
    await page.getByLabel("Name").fill("Ada");
    await button("Next").click();
    await page.getByLabel("Your mail").waitFor();
    expect(await paths()).toEqual(["who", "who.mail", "where", "where.city"]);
    expect(await stored()).toEqual({ who: { name: "Ada" } });
  });
});

describe("hostile texts", () => {
  it("[FORM-TEXT] stay text in titles, hints, choices and values", async () => {
    const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>`;
    await openForm(
      {
        schema: {
          type: "object",
          title: evil,
          properties: {
            a: { type: "string", title: evil, description: evil },
            b: { enum: [evil, "other"] },
            c: { type: "array", uniqueItems: true, items: { enum: [evil, ...Array.from({ length: 20 }, String)] } },
            d: { oneOf: [{ const: 1, title: evil }, { const: 2 }] },
            e: { type: "object", additionalProperties: { type: "string" } },
          },
        },
        uiHints: { fieldHints: { a: { label: evil, help: evil, placeholder: evil, example: evil } } },
      },
      { a: evil, c: [evil], e: { "<b>name</b>": evil } },
    );
    await page.getByRole("combobox").fill("<img");
    await page.getByRole("option").first().waitFor();
    expect(await page.locator(".fb-form img, .fb-form script, .fb-form b").count()).toBe(0);
    expect(await page.evaluate("'hit' in window")).toBe(false);
    expect(await at("a").locator("label").textContent()).toContain(evil);
  });
});
