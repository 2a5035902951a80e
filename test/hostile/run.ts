import { createGenerator } from "./cases.ts";
import type { Operations } from "./operations.ts";
import { problemsOf } from "./oracle.ts";
import type { Case } from "./scene.ts";
import { differences, photograph } from "./sentinels.ts";
import { type Connection, createConnection, type WireAnswer, type WireRequest } from "./wire.ts";
import type { World } from "./world.ts";

export interface RunOptions {
  seed: number;
  cases: number;
  connections: number;
  /** Check the sentinels after this many cases. */
  lookEvery: number;
}

export interface Finding {
  /** How often it was seen. */
  count: number;
  /** The first case that showed it. */
  example: string;
}

export interface RunResult {
  findings: Map<string, Finding>;
  byStatus: Map<string, number>;
  operations: Set<string>;
  slowest: { ms: number; example: string };
}

const SHOWN = 700;

function show({ method, path, headers, body }: WireRequest): string {
  const head = headers.map(([name, value]) => `${name}: ${value.slice(0, 120)}`).join(" | ");
  return `${method} ${path.slice(0, 200)} [${head}] ${body?.toString("utf8", 0, 300) ?? ""}`.slice(0, SHOWN);
}

/** Runs all cases of a seed over keep-alive connections, judges every response, and checks the sentinels in between. */
export async function runCases(world: World, operations: Operations, options: RunOptions): Promise<RunResult> {
  const generator = createGenerator(world, operations, options.seed);
  const result: RunResult = {
    findings: new Map(),
    byStatus: new Map(),
    operations: new Set(),
    slowest: { ms: 0, example: "" },
  };
  const connections = Array.from({ length: options.connections }, () => createConnection(world.port));
  const camera = createConnection(world.port);
  let before = await photograph(world, camera);
  let next = 0;
  const work = async (connection: Connection, until: number): Promise<void> => {
    while (next < until) {
      const index = next++;
      await runCase({ world, result, connection }, generator.next(index), index);
    }
  };
  try {
    while (next < options.cases) {
      const until = Math.min(next + options.lookEvery, options.cases);
      await Promise.all(connections.map((connection) => work(connection, until)));
      world.test.clock.advance(1000);
      const after = await photograph(world, camera);
      for (const change of differences(before, after)) note(result, change, `before case ${until}`);
      before = after;
    }
  } finally {
    for (const connection of [camera, ...connections]) connection.close();
  }
  return result;
}

interface Bench {
  world: World;
  result: RunResult;
  connection: Connection;
}

async function runCase({ world, result, connection }: Bench, test: Case, index: number): Promise<void> {
  const { request, expectation, kind } = test;
  const example = `#${index} ${kind}: ${show(request)}`;
  const began = performance.now();
  try {
    const answer = await connection.send(request);
    const ms = performance.now() - began;
    if (ms > result.slowest.ms) result.slowest = { ms, example };
    const label = `${kind} ${answer.status}`;
    result.byStatus.set(label, (result.byStatus.get(label) ?? 0) + 1);
    if (expectation.operation !== undefined)
      result.operations.add(`${expectation.operation.id} ${answer.status < 400 ? "good" : "bad"}`);
    for (const problem of problemsOf(request, answer, expectation))
      note(result, problem, `${example} → ${answer.status} ${answer.body.slice(0, 300)}`);
    learn(world, answer, { index, kind });
    if (test.twin !== undefined) compare(result, { answer, other: await connection.send(test.twin), example });
  } catch (error) {
    note(result, `no answer: ${String(error)}`, example);
  }
}

function note({ findings }: RunResult, problem: string, example: string): void {
  // The same problem with other ids is the same problem.
  const name = problem
    .replaceAll(/(?:sub|evt|key|upl|hof)_[0-9a-f-]{36}/g, "ID")
    .replaceAll(/rtok_[\w-]{43}/g, "TOKEN");
  const known = findings.get(name);
  if (known === undefined) findings.set(name, { count: 1, example });
  else known.count++;
}

const IGNORED = ["date", "x-request-id"];

function compare(
  result: RunResult,
  { answer, other, example }: { answer: WireAnswer; other: WireAnswer; example: string },
): void {
  const shown = ({ status, headers, body }: WireAnswer): string =>
    JSON.stringify([status, Object.entries(headers).filter(([name]) => !IGNORED.includes(name)), body]);
  if (shown(answer) === shown(other)) return;
  note(
    result,
    "somebody else's resource and a nonexistent one get different responses",
    `${example} → ${answer.status} ${answer.body} / ${other.status} ${other.body}`,
  );
}

const KEPT = 30;

/** Keeps the last links, and the sessions that were opened through them. */
function learnHandoff(world: World, { submissionId, handoffId, url, session }: Record<string, unknown>): void {
  if (typeof submissionId !== "string" || typeof handoffId !== "string") return;
  const inLink = typeof url === "string" ? new URL(url).searchParams.get("session") : null;
  if (inLink !== null) world.links.push({ submissionId, handoffId, session: inLink });
  if (typeof session === "string") world.visits.push({ submissionId, session });
  world.links.splice(0, world.links.length - KEPT);
  world.visits.splice(0, world.visits.length - KEPT);
}

function learnIncidents(world: World, items: unknown): void {
  if (!Array.isArray(items)) return;
  for (const { incidentId } of items) if (typeof incidentId === "string") world.incidentIds.push(incidentId);
  world.incidentIds.splice(0, world.incidentIds.length - KEPT);
}

/** Keeps the toys' tokens, and replaces old submissions with new ones. */
function learn(
  world: World,
  { status, body, live }: WireAnswer,
  { index, kind }: { index: number; kind: string },
): void {
  if (status >= 300 || live || !body.startsWith('{"ok":true')) return;
  const answer = JSON.parse(body) as Record<string, unknown>;
  const { submissionId, resumeToken, version, state, intakeId, keyId, webhook, block, items } = answer;
  if (status === 201 && typeof keyId === "string") world.spareKeyIds.push(keyId);
  const { webhookId } = (webhook ?? {}) as { webhookId?: unknown };
  if (status === 201 && typeof webhookId === "string") world.spareWebhookIds.push(webhookId);
  const { blockId } = (block ?? {}) as { blockId?: unknown };
  if (status === 201 && typeof blockId === "string") world.spareBlockIds.push(blockId);
  learnIncidents(world, items);
  if (status === 201) learnHandoff(world, answer);
  if (typeof submissionId !== "string" || typeof resumeToken !== "string" || typeof version !== "number") return;
  const toy = world.toys.find((known) => known.submissionId === submissionId);
  if (toy !== undefined) Object.assign(toy, { token: resumeToken, version, state });
  else if (status === 201 && kind === "valid" && typeof intakeId === "string") {
    world.toys[index % world.toys.length] = { submissionId, intakeId, token: resumeToken, version };
  }
}
