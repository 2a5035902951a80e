import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createDice, type Dice } from "../simulation/random.ts";
import { runCommand, type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { INTAKE, learn, type Sent, type Story, send, writeUntilKilled } from "./kill-client.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const CYCLES = isLong ? 1_000 : 25;
const VERIFY_EVERY = isLong ? 50 : 12;
/** A folder serves this many lives of the server. */
const CYCLES_A_FOLDER = 50;
const CLIENTS = 8;
const SEED = Number(process.env.FORMBRIDGE_KILL_SEED ?? Date.now() % 1_000_000);

const ADMIN_KEY = `fbk_${"k".repeat(43)}`;
const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };

let folder = tempFolder();
afterAll(() => folder.remove());
const env = () => ({
  FORMBRIDGE_DATA: folder.path,
  FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
  FORMBRIDGE_RATE_LIMIT: "off",
  FORMBRIDGE_LOG_LEVEL: "error",
  FORMBRIDGE_INTAKES: folder.path,
  // Most of a short life would be spent on starting; a start that ended well leaves its compiled code behind.
  NODE_COMPILE_CACHE: join(tmpdir(), "formbridge-compile-cache"),
});

const ask = async (url: string, path: string): Promise<Loose> => {
  const response = await fetch(url + path, { headers });
  expect(response.status, path).toBe(200);
  return await response.json();
};

async function putIntake(url: string): Promise<void> {
  const properties = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`f${index}`, { type: "string" }]));
  const schema = { type: "object", additionalProperties: false, properties };
  const definition = {
    id: INTAKE,
    version: "1",
    name: INTAKE,
    access: "public",
    schema,
    destination: { kind: "store" },
  };
  const response = await fetch(`${url}/intakes/${INTAKE}`, {
    method: "PUT",
    headers,
    body: JSON.stringify(definition),
  });
  expect(response.status).toBeLessThan(300);
}

test("killed under load at any moment, every answered write is there once and every other one at most once [IDEMPOTENCY-CRASH]", {
  timeout: isLong ? 7_200_000 : 240_000,
}, async () => {
  const began = performance.now();
  process.stdout.write(`kill: FORMBRIDGE_KILL_SEED=${SEED}\n`);
  const dice = createDice(SEED);
  const tally = { answered: 0, open: 0, applied: 0 };
  let server = await startServerProcess(env());
  await putIntake(server.url);
  await server.stop();
  server = await startServerProcess(env());
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const from = new Date().toISOString();
    const stories = await loadAndKill(server, { cycle, dice });
    server = await startServerProcess(env());
    await checkStories(server.url, { stories, from, tally });
    if (cycle % VERIFY_EVERY === VERIFY_EVERY - 1 || cycle === CYCLES - 1) await verifyHistories();
    if (cycle % CYCLES_A_FOLDER === CYCLES_A_FOLDER - 1) server = await moveOn(server);
  }
  await server.stop();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const { answered, open, applied } = tally;
  process.stdout.write(
    `kill: ${CYCLES} kills, ${answered} answered writes, ${open} open ones (${applied} were done), ${seconds} s\n`,
  );
  expect(answered).toBeGreaterThan(CYCLES);
});

async function loadAndKill(server: ServerProcess, { cycle, dice }: { cycle: number; dice: Dice }): Promise<Story[]> {
  const progress = { answers: 0 };
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    writeUntilKilled(server.url, { name: `c${cycle}-${client}`, dice: createDice(dice.below(2 ** 31)), progress }),
  );
  // After so many answers, not after so much time: a busy machine must not make it an idle server that is killed.
  const enough = 5 + dice.below(120);
  for (const giveUp = Date.now() + 20_000; progress.answers < enough && Date.now() < giveUp; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await server.kill();
  return (await Promise.all(clients)).flat();
}

async function verifyHistories(): Promise<void> {
  const { code, stdout, stderr } = await runCommand(["verify", "--all"], env());
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^[1-9]\d* verified/m);
}

async function moveOn(server: ServerProcess): Promise<ServerProcess> {
  await server.stop();
  folder.remove();
  folder = tempFolder();
  const next = await startServerProcess(env());
  await putIntake(next.url);
  return next;
}

interface Check {
  stories: readonly Story[];
  from: string;
  tally: { answered: number; open: number; applied: number };
}

async function checkStories(url: string, { stories, from, tally }: Check): Promise<void> {
  await Promise.all(
    stories.map(async (story) => {
      tally.answered += story.answered.length;
      if (story.open === undefined) return;
      tally.open += 1;
      if (await settleOpen(url, story, story.open)) tally.applied += 1;
    }),
  );
  const everything = await listSince(url, from);
  await Promise.all(stories.map((story) => checkStory(url, story, everything)));
  const known = new Set(stories.map(({ submissionId }) => submissionId));
  const strangers = everything.filter(({ submissionId }) => !known.has(submissionId));
  const unanswered = stories.filter((story) => story.submissionId === undefined).map(({ mark }) => `${mark}-0`);
  for (const { fields } of strangers) expect(unanswered, "nobody asked for this submission").toContain(fields.f0);
}

/** The request that got no answer is made again, as its client would. Answers whether it had been done before the kill. */
async function settleOpen(url: string, story: Story, open: Sent): Promise<boolean> {
  if (open.key !== undefined) {
    const { status, body } = await send(url, open);
    expect([200, 201], `${open.mark} ${JSON.stringify(body)}`).toContain(status);
    expect(body.version).toBe(story.version + 1);
    learn(story, open, body);
    story.answered.pop();
    return body._idempotent === true;
  }
  if (story.submissionId === undefined) return false;
  const { version, fields, resumeToken } = await ask(url, `/submissions/${story.submissionId}`);
  const done = Object.entries(open.fields ?? {}).every(([name, value]) => fields[name] === value);
  expect(version, `${open.mark} at most once`).toBe(story.version + (done ? 1 : 0));
  if (done) {
    Object.assign(story.fields, open.fields);
    Object.assign(story, { version, token: resumeToken });
    // Without a key, the retry of what was done is told that the world has moved.
    expect((await send(url, open)).status).toBe(409);
  }
  return done;
}

async function listSince(url: string, from: string): Promise<Loose[]> {
  const items: Loose[] = [];
  let query = `intakeId=${INTAKE}&from=${from}&fields=true&limit=1000`;
  for (;;) {
    const page = await ask(url, `/submissions?${query}`);
    items.push(...page.items);
    if (page.nextPageToken === undefined) return items;
    query = `pageToken=${encodeURIComponent(page.nextPageToken)}`;
  }
}

async function checkStory(url: string, story: Story, everything: readonly Loose[]): Promise<void> {
  const twins = everything.filter(({ fields }) => fields.f0 === `${story.mark}-0`);
  expect(twins.length, `${story.mark} exists`).toBeLessThanOrEqual(1);
  if (story.submissionId === undefined) return;
  expect(twins).toMatchObject([{ submissionId: story.submissionId, version: story.version, fields: story.fields }]);
  if (story.state === "finalized") expect(twins[0].state).toBe("finalized");
  const isAtEdge = everything.indexOf(twins[0]) < 2 * CLIENTS;
  if (!isAtEdge) return;
  await checkHistory(url, story);
  const last = story.answered.findLast(({ sent }) => sent.key !== undefined && sent.what !== "create");
  if (last === undefined) return;
  const again = await send(url, last.sent);
  expect(again.body, "a retry gets the recorded answer").toEqual({ ...last.body, _idempotent: true });
}

/** One event a version, whatever was retried. */
async function checkHistory(url: string, story: Story): Promise<void> {
  const { events } = await ask(url, `/submissions/${story.submissionId}/events?limit=1000`);
  const writes = events.filter(({ type }: Loose) => type === "field.updated" || type === "submission.submitted");
  const versions = writes.map(({ version }: Loose) => version);
  expect(versions).toEqual(Array.from({ length: story.version }, (_, index) => index + 1));
}
