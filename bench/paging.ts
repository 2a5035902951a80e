import { createHash } from "node:crypto";
import { createPageTokens } from "@formbridge/core";
import { Agent, request } from "undici";
import { startOtherProvider } from "./other-provider.ts";
import { FILLS, FRACTION, INTAKES } from "./records-fill.ts";
import { print } from "./report.ts";
import { ADMIN_KEY, SECRET, type Server, startOurs } from "./server-process.ts";
import { median, percentile } from "./stats.ts";

const PAGE = 100;
/** Each page is read this often, in turns, after a few reads that don't count. */
const ROUNDS = 60;
const WARM_UP = 10;
/** Compared with the other provider. */
const COMPARED = 10_000;
const COMPARISONS = 3;
const AN_HOUR = 3_600_000;

/** Milliseconds of pages at three depths: the first one, the thousandth, and the last but one. */
export interface Depths {
  pages: [number, number, number];
  ms: [number, number, number];
  /** The slowest against the fastest. */
  ratio: number;
}

export interface Harvested {
  records: number;
  seconds: number;
  p50: number;
  p99: number;
}

export interface Exported {
  form: "application/x-ndjson" | "text/csv";
  lines: number;
  seconds: number;
  /** Peaks of resident memory, while the first tenth was sent and afterwards. */
  earlyMegabytes: number;
  lateMegabytes: number;
}

export interface Paging {
  store: keyof typeof FILLS;
  records: number;
  fillSeconds: number;
  submissions: Depths;
  oai: Depths;
  harvest: Harvested;
  /** Records per second of the first 10,000, beside the provider that Debian packages, if it is installed. */
  against?: { ours: number; other: number };
  exports: Exported[];
}

/** One connection, as a harvester has. */
const dispatcher = new Agent({ connections: 1, bodyTimeout: 0, headersTimeout: 0 });
const authorization = `Bearer ${ADMIN_KEY}`;

const RECORD = "<record>";
/** A resumption token and what follows it fit into this. */
const TAIL = 4_000;

interface ReadPage {
  records: number;
  /** How the page ends. */
  tail: string;
  ms: number;
}

/**
 * Reads a page without making a text of it: the texts of a whole harvest keep this process's own garbage collector busy, whose pauses
 * would be measured as the server's.
 */
async function read(url: string): Promise<ReadPage> {
  const began = performance.now();
  const answer = await request(url, { dispatcher, headers: { authorization } });
  let [records, tail] = [0, ""];
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    const edge = tail.slice(1 - RECORD.length) + chunk.toString("latin1", 0, RECORD.length - 1);
    if (edge.includes(RECORD)) records += 1;
    for (let at = chunk.indexOf(RECORD); at !== -1; at = chunk.indexOf(RECORD, at + 1)) records += 1;
    tail = (tail + chunk.toString("latin1", Math.max(0, chunk.length - TAIL))).slice(-TAIL);
  }
  const ms = performance.now() - began;
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${tail.slice(0, 500)}`);
  return { records, tail, ms };
}

/** From the first page to the last. Returns each page's time, and the URL of the next page. */
async function walk(
  base: string,
  atMost: number,
  seen: (page: { number: number; ms: number; next: string | undefined }) => void = () => {},
): Promise<number> {
  let records = 0;
  let url: string | undefined = `${base}?verb=ListRecords&metadataPrefix=oai_dc`;
  for (let number = 1; url !== undefined && records < atMost; number++) {
    const page = await read(url);
    records += page.records;
    const token = /<resumptionToken[^>]*>([^<]+)</.exec(page.tail)?.[1];
    url = token === undefined ? undefined : `${base}?verb=ListRecords&resumptionToken=${encodeURIComponent(token)}`;
    seen({ number, ms: page.ms, next: url });
  }
  return records;
}

/** The three pages in turns, so that whatever else the machine does slows down all of them. */
async function measureDepths(pages: Depths["pages"], urls: readonly string[]): Promise<Depths> {
  const times: number[][] = urls.map(() => []);
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const [at, url] of urls.entries()) {
      const { ms } = await read(url);
      if (round >= WARM_UP) times[at]?.push(ms);
    }
  }
  const [first = 0, middle = 0, last = 0] = times.map(median);
  const ms: Depths["ms"] = [first, middle, last];
  return { pages, ms, ratio: Math.max(...ms) / Math.min(...ms) };
}

/** The preset key's id, which a page token is bound to. */
const keyId = `key_preset_${createHash("sha256").update(ADMIN_KEY).digest("hex").slice(0, 16)}`;

/** A page deep in the list is requested with a token like the one that the page before it ends with. */
async function submissionPages(url: string, pages: Depths["pages"], at: (offset: number) => string): Promise<string[]> {
  const tokens = createPageTokens([SECRET], AN_HOUR);
  const scope = { list: "submissions", holder: { tenant: "default", keyId } };
  const total = { count: COMPARED, isEstimate: true };
  const urls: string[] = [];
  for (const page of pages) {
    const cursor = (page - 1) * PAGE;
    const position = { query: { limit: String(PAGE) }, after: at(cursor), cursor, total };
    const { token } = await tokens.sign(scope, position, Date.now());
    urls.push(page === 1 ? `${url}/submissions?limit=${PAGE}` : `${url}/submissions?pageToken=${token}`);
  }
  return urls;
}

async function harvestAll(base: string, pages: Depths["pages"]): Promise<{ harvest: Harvested; urls: string[] }> {
  const urls = [`${base}?verb=ListRecords&metadataPrefix=oai_dc`];
  const times: number[] = [];
  const began = performance.now();
  const records = await walk(base, Number.POSITIVE_INFINITY, ({ number, ms, next }) => {
    times.push(ms);
    if (next !== undefined && pages.includes(number + 1)) urls.push(next);
  });
  const seconds = (performance.now() - began) / 1000;
  return { harvest: { records, seconds, p50: median(times), p99: percentile(times, 0.99) }, urls };
}

/** The first records of both, in turns; the best turn of each. */
async function compareProviders(base: string): Promise<Paging["against"]> {
  const provider = await startOtherProvider(COMPARED);
  if (provider === undefined) return undefined;
  try {
    const rate = async (url: string): Promise<number> => {
      const began = performance.now();
      return (await walk(url, COMPARED)) / ((performance.now() - began) / 1000);
    };
    const rates: { ours: number; other: number }[] = [];
    for (let turn = 0; turn < COMPARISONS; turn++)
      rates.push({ ours: await rate(base), other: await rate(provider.url) });
    return { ours: Math.max(...rates.map((one) => one.ours)), other: Math.max(...rates.map((one) => one.other)) };
  } finally {
    await provider.stop();
  }
}

async function measureExport(server: Server, form: Exported["form"], expected: number): Promise<Exported> {
  const [, intakeId] = INTAKES;
  const url = `http://127.0.0.1:${server.port}/submissions?intakeId=${intakeId}&fields=true`;
  const began = performance.now();
  const answer = await request(url, { dispatcher, headers: { authorization, accept: form } });
  if (answer.statusCode !== 200) throw new Error(`export: ${answer.statusCode}`);
  const memory = { early: 0, late: 0 };
  let lines = form === "text/csv" ? -1 : 0;
  const NEWLINE = 10;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
    const when = lines < expected / 10 ? "early" : "late";
    memory[when] = Math.max(memory[when], server.rss());
  }
  if (lines < expected) throw new Error(`the export has ${lines} of ${expected} submissions`);
  const seconds = (performance.now() - began) / 1000;
  return { form, lines, seconds, earlyMegabytes: memory.early, lateMegabytes: memory.late };
}

export interface PagingOptions {
  folder: string;
  store: keyof typeof FILLS;
  records: number;
}

/** With this many records: what does a page cost at each depth, and how do harvests and exports behave? */
export async function measurePaging({ folder, store, records }: PagingOptions): Promise<Paging> {
  const began = performance.now();
  const filled = await FILLS[store](folder, records);
  const fillSeconds = (performance.now() - began) / 1000;
  print(`${records} records in ${fillSeconds.toFixed(0)} s (${store})`);
  const { databaseUrl } = filled;
  const server = await startOurs(folder, databaseUrl === undefined ? {} : { databaseUrl });
  const url = `http://127.0.0.1:${server.port}`;
  // The last page has no token to sign, so it would be cheaper.
  const deep = Math.floor(records / PAGE) - 1;
  const pages: Depths["pages"] = [1, Math.max(2, Math.floor(deep / 50)), deep];
  try {
    const { harvest, urls } = await harvestAll(`${url}/oai`, pages);
    const oai = await measureDepths(pages, urls);
    const lists = await submissionPages(url, pages, (offset) => filled.idOf(records - offset));
    const submissions = await measureDepths(pages, lists);
    const against = await compareProviders(`${url}/oai`);
    const exported = Math.floor((records - INTAKES.length) / FRACTION);
    const exports = [
      await measureExport(server, "application/x-ndjson", exported),
      await measureExport(server, "text/csv", exported),
    ];
    return { store, records, fillSeconds, submissions, oai, harvest, ...(against && { against }), exports };
  } finally {
    await server.stop();
    await filled.close();
  }
}
