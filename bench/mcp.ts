import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mcpMessage } from "./client/mcp-requests.ts";
import type { Client } from "./client-process.ts";
import { compare, createSide, type Pairing, type Rounds, type Side } from "./compare.ts";
import { type Server, startOurs } from "./server-process.ts";
import { median } from "./stats.ts";
import { type ToolTokens, tokensOf } from "./tool-tokens.ts";

export interface McpMeasures {
  /** Tool calls against the same operation over plain HTTP, on one server. */
  pairings: Pairing[];
  /** The list for 100 intakes, each with its own tools. */
  listMs: number;
  listedTools: number;
  /** How much of a model's context the default list of the example intakes takes. */
  tokens: ToolTokens;
  /** From the start of `formbridge mcp` to its first response. */
  startMs: number;
}

const SUBMISSIONS = 1024;
const INTAKES = 100;
const LISTS = 30;
const STARTS = 5;
const root = fileURLToPath(new URL("..", import.meta.url));

async function againstHttp(client: Client, folder: string, rounds: Rounds): Promise<Pairing[]> {
  const server = await startOurs(join(folder, "mcp"), { env: { FORMBRIDGE_MCP_TOOLS: "intake" } });
  try {
    const plain = await createSide(client, server, SUBMISSIONS);
    const tools: Side = { ...(await createSide(client, server, SUBMISSIONS)), mcp: true };
    const pairings: Pairing[] = [];
    for (const kind of ["create", "setFields", "read"] as const) {
      pairings.push(await compare(client, [plain, tools], { kind, rounds }));
    }
    return pairings;
  } finally {
    await server.stop();
  }
}

/** A folder with the benchmark's form a hundred times. */
function manyIntakes(folder: string): string {
  const path = join(folder, "many-intakes");
  mkdirSync(path, { recursive: true });
  const one = JSON.parse(readFileSync(join(root, "bench/intakes/supplier.json"), "utf8"));
  for (let index = 0; index < INTAKES; index++) {
    writeFileSync(join(path, `${index}.json`), JSON.stringify({ ...one, id: `supplier-${index}` }));
  }
  return path;
}

interface Listing {
  /** Until the last byte; parsing isn't included. */
  ms: number;
  tools: Parameters<typeof tokensOf>[0];
}

async function list({ port, apiKey }: Server): Promise<Listing> {
  const { headers, body } = mcpMessage("tools/list", {});
  const began = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify(body),
  });
  const bytes = await answer.arrayBuffer();
  const ms = performance.now() - began;
  const { result } = JSON.parse(Buffer.from(bytes).toString()) as {
    result: { tools: Listing["tools"]; nextCursor?: string };
  };
  if (result.nextCursor !== undefined) throw new Error("the list has pages");
  return { ms, tools: result.tools };
}

async function listing(folder: string): Promise<{ listMs: number; listedTools: number }> {
  const server = await startOurs(join(folder, "mcp-list"), {
    intakes: manyIntakes(folder),
    env: { FORMBRIDGE_MCP_TOOLS: "intake" },
  });
  try {
    const { tools } = await list(server);
    const times: number[] = [];
    for (let turn = 0; turn < LISTS; turn++) times.push((await list(server)).ms);
    return { listMs: median(times), listedTools: tools.length };
  } finally {
    await server.stop();
  }
}

async function contextTaken(folder: string): Promise<ToolTokens> {
  const server = await startOurs(join(folder, "mcp-tokens"), { intakes: join(root, "examples/intakes") });
  try {
    return tokensOf((await list(server)).tools);
  } finally {
    await server.stop();
  }
}

/** Starts it as a host does, sends a request at once, and measures the time until the response. */
async function startOnce(folder: string): Promise<number> {
  const { PATH = "", HOME = "" } = process.env;
  const env = {
    PATH,
    HOME,
    FORMBRIDGE_DATA: folder,
    FORMBRIDGE_INTAKES: join(root, "bench/intakes"),
    FORMBRIDGE_LOG_LEVEL: "error",
  };
  const began = performance.now();
  const child = spawn(process.execPath, [join(root, "apps/server/bin/formbridge.mjs"), "mcp"], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.write(`${JSON.stringify(mcpMessage("server/discover", {}).body)}\n`);
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  const took = performance.now() - began;
  if (!first.toString().includes('"supportedVersions"')) throw new Error(`not an answer: ${first}`);
  const gone = once(child, "exit");
  child.stdin.end();
  await gone;
  return took;
}

async function starting(folder: string): Promise<number> {
  const own = join(folder, "mcp-stdio");
  // The first start creates the file and loads the modules into the page cache.
  await startOnce(own);
  const times: number[] = [];
  for (let turn = 0; turn < STARTS; turn++) times.push(await startOnce(own));
  return median(times);
}

export async function measureMcp(client: Client, folder: string, rounds: Rounds): Promise<McpMeasures> {
  const pairings = await againstHttp(client, folder, rounds);
  const tokens = await contextTaken(folder);
  return { pairings, ...(await listing(folder)), tokens, startMs: await starting(folder) };
}
