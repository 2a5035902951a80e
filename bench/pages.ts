import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { findProgram } from "../test/support/services/programs.ts";
import { type PageSizes, pageSizes } from "./page-sizes.ts";
import { ADMIN_KEY, type Server, startOurs } from "./server-process.ts";
import { median, percentile } from "./stats.ts";

const CPU_SLOW_DOWN = 4;
const ROUNDS = 9;
const KEYSTROKES = 120;
const TYPED_FIELDS = 6;
const FIELD = "form input, .fb-form input";
const MANY = 300;

interface Keystrokes {
  p50: number;
  p95: number;
}

interface Sides<Measured> {
  floor: Measured;
  page: Measured;
}

export interface PageMeasures {
  sizes: PageSizes;
  /** Milliseconds until a field accepts input, for the benchmark's intake and for one with 300 fields. */
  interactive: { example: Sides<number>; many: Sides<number> };
  /** Milliseconds from a keystroke to the frame that shows it, among 300 fields. */
  keystrokes: Sides<Keystrokes>;
}

/**
 * The form page against a plain HTML form: the same fields from the same API, without a framework. Both load in the
 * same browser, slowed down four times, alternating.
 */
export async function measurePages(folder: string): Promise<PageMeasures> {
  const server = await startOurs(folder);
  const floor = await startPlainPages(server.port);
  const browser = await chromium.launch({
    executablePath: findProgram("chromium", "chromium"),
    args: ["--no-sandbox"],
  });
  try {
    await putIntake(server, "many-fields");
    const example = await sidesOf(server, floor, "supplier");
    const many = await sidesOf(server, floor, "many-fields");
    return {
      sizes: pageSizes("form"),
      interactive: { example: await interactive(browser, example), many: await interactive(browser, many) },
      keystrokes: await keystrokes(browser, many),
    };
  } finally {
    await browser.close();
    floor.close();
    await server.stop();
  }
}

const call = async (port: number, path: string, init: RequestInit): Promise<Record<string, string>> => {
  const headers = { "content-type": "application/json", authorization: `Bearer ${ADMIN_KEY}` };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers, ...init });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
};

async function putIntake({ port }: Server, id: string): Promise<void> {
  const names = Array.from({ length: MANY }, (_, index) => `field${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string", title: `Field ${name}` }]));
  const schema = { type: "object", properties };
  const definition = { id, version: "1", name: id, schema, destination: { kind: "store" } };
  await call(port, `/intakes/${id}`, { method: "PUT", body: JSON.stringify(definition) });
}

/** The URLs of one submission: our page, and the plain form. */
async function sidesOf({ port, apiKey }: Server, floor: HttpServer, intakeId: string): Promise<Sides<string>> {
  const { resumeToken } = await call(port, `/intakes/${intakeId}/submissions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: "{}",
  });
  const { port: plain } = floor.address() as AddressInfo;
  return {
    floor: `http://127.0.0.1:${plain}/${resumeToken}`,
    page: `http://127.0.0.1:${port}/resume/${resumeToken}`,
  };
}

/** Serves the plain form, and forwards its two reads to the server. */
function startPlainPages(apiPort: number): Promise<HttpServer> {
  const script = `
    const token = location.pathname.slice(1);
    const read = (path) => fetch(path).then((answer) => answer.json());
    Promise.all([read("/api/" + token + "/intake"), read("/api/" + token)]).then(([{ intake }, { fields = {} }]) => {
      const form = document.querySelector("form");
      for (const [name, { title = name }] of Object.entries(intake.schema.properties)) {
        const label = document.createElement("label");
        const input = document.createElement("input");
        label.textContent = title;
        input.name = name;
        input.value = fields[name] ?? "";
        label.append(input);
        form.append(label);
      }
    });`;
  const html = `<!doctype html><meta charset="utf-8"><title>Form</title><style>label, input { display: block }</style>
    <form></form><script>${script}</script>`;
  const server = createServer(async ({ url = "" }, response) => {
    const path = /^\/api(\/.*)$/.exec(url)?.[1];
    const type = path === undefined ? "text/html" : "application/json";
    const body = path === undefined ? html : await (await fetch(`http://127.0.0.1:${apiPort}/resume${path}`)).text();
    response.setHeader("content-type", type).end(body);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** A new page with an empty cache and CPU throttling. */
async function openSlowly(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 800, height: 900 } });
  const page = await context.newPage();
  const devTools = await context.newCDPSession(page);
  await devTools.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOW_DOWN });
  return page;
}

/** These run in the browser. */
const UNTIL_FIELD = `(resolve) => {
  const look = () => {
    if (document.querySelector("${FIELD}") === null) requestAnimationFrame(look);
    else setTimeout(() => resolve(performance.now()));
  };
  look();
}`;
const TIME_KEYS = `
  globalThis.times = [];
  addEventListener(
    "keydown",
    ({ timeStamp }) => requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - timeStamp))),
    { capture: true },
  );`;

/** Milliseconds from the request to the first frame in which a field is there and the page can handle input. */
async function timeToField(browser: Browser, url: string): Promise<number> {
  const page = await openSlowly(browser);
  try {
    await page.goto(url, { waitUntil: "commit" });
    return await page.evaluate<number>(`new Promise(${UNTIL_FIELD})`);
  } finally {
    await page.context().close();
  }
}

async function interactive(browser: Browser, sides: Sides<string>): Promise<Sides<number>> {
  const times: Sides<number[]> = { floor: [], page: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const [floor, page] = [await timeToField(browser, sides.floor), await timeToField(browser, sides.page)];
    // The first round warms up both servers.
    if (round === 0) continue;
    times.floor.push(floor);
    times.page.push(page);
  }
  return { floor: median(times.floor), page: median(times.page) };
}

/** Types into one field of each page in turn, so that a busy moment of the machine slows down both. */
async function keystrokes(browser: Browser, sides: Sides<string>): Promise<Sides<Keystrokes>> {
  const [floor, page] = [await openToType(browser, sides.floor), await openToType(browser, sides.page)];
  try {
    for (let field = 0; field < TYPED_FIELDS; field++) {
      for (const each of [floor, page]) {
        await each.locator(FIELD).nth(field).focus();
        await each.keyboard.type("a".repeat(KEYSTROKES / TYPED_FIELDS), { delay: 60 });
      }
    }
    return { floor: await timesIn(floor), page: await timesIn(page) };
  } finally {
    for (const each of [floor, page]) await each.context().close();
  }
}

async function openToType(browser: Browser, url: string): Promise<Page> {
  const page = await openSlowly(browser);
  await page.goto(url);
  await page.locator(FIELD).first().waitFor();
  await page.evaluate(TIME_KEYS);
  return page;
}

async function timesIn(page: Page): Promise<Keystrokes> {
  const times = await page.evaluate<number[]>("times");
  return { p50: median(times), p95: percentile(times, 0.95) };
}
