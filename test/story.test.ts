import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "./support/services/postgres.ts";

const ROOT = join(import.meta.dirname, "..");
const SCRIPT = join(ROOT, "examples/story/run.ts");

/** In a process of its own, as `npm run story` runs it. */
async function told(env: Record<string, string> = {}, ...flags: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, ...flags], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
  });
  return stdout
    .replaceAll(/(sub|dlv)_[\w-]+/g, "$1_…")
    .trim()
    .split("\n");
}

const STORY = [
  "agent      created sub_…; missing: iban, certificate",
  "agent      made a link for a human",
  "human      filled in the rest and sent a file",
  "agent      submitted; it is needs_review",
  "petra      approved by the link of her mail; it is needs_review",
  "paul       approved by the link of his mail; it is finalized",
  "RabbitMQ   got dlv_…: Acme GmbH",
  expect.stringMatching(/^history {4}\d\d events verified$/),
  expect.stringMatching(/^webhook {4}heard of \d\d events, from submission.created to submission.finalized$/),
];

test("from the first field to the queue, with mail, files, two reviewers and events: on a file", {
  timeout: 120_000,
}, async () => {
  expect(await told()).toEqual(STORY);
});

test("the same story on PostgreSQL", { timeout: 120_000 }, async () => {
  const database = await createDatabase();
  try {
    const env = { FORMBRIDGE_DATABASE_URL: database.url, FORMBRIDGE_SECRET: "a secret of the story" };
    expect(await told(env)).toEqual(STORY);
  } finally {
    await database.drop();
  }
});

const BY_WEBHOOK = STORY.map((line) =>
  line === "RabbitMQ   got dlv_…: Acme GmbH" ? "receiver   got dlv_…: Acme GmbH" : line,
);

test("[AUDIT-F40] without RabbitMQ a webhook takes its place", { timeout: 120_000 }, async () => {
  expect(await told({}, "--webhook")).toEqual(BY_WEBHOOK);
});

test("[AUDIT-F40] with --keep everything stays up to look at, until it is asked to stop", {
  timeout: 120_000,
}, async () => {
  const child = spawn(process.execPath, [SCRIPT, "--webhook", "--keep"], {
    cwd: ROOT,
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  for await (const part of child.stdout) {
    printed += part;
    if (/^keeps .*\n/m.test(printed)) break;
  }
  const [, command = ""] = /^keeps .*?(curl .*)$/m.exec(printed) ?? [];
  const [, url = "", key = ""] = /curl -s (\S+) -H 'Authorization: Bearer (\S+)'/.exec(command) ?? [];
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  expect(await response.json()).toMatchObject({ ok: true, state: "finalized" });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});
