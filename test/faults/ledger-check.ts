/** Compares what clients were told with what the server knows after the fault: nothing lost, nothing duplicated. */
import { expect } from "vitest";
import type { Loose } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { INTAKE, learn, type Sent, type Story, send } from "./kill-client.ts";

export const ADMIN_KEY = `fbk_${"k".repeat(43)}`;
const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
/** The histories of the newest submissions are checked. */
const LOOKED_INTO = 16;

/** Asks again after a 503: right after a fault, one of several servers may not have noticed yet that it is over. */
const ask = async (url: string, path: string): Promise<Loose> => {
  const response = await until(async () => {
    const one = await fetch(url + path, { headers });
    return one.status === 503 ? undefined : one;
  });
  expect(response.status, path).toBe(200);
  return await response.json();
};

export async function putIntake(url: string): Promise<void> {
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

export interface Check {
  stories: readonly Story[];
  from: string;
  tally: { answered: number; open: number; applied: number };
}

export async function checkStories(url: string, { stories, from, tally }: Check): Promise<void> {
  await Promise.all(
    stories.map(async (story) => {
      tally.answered += story.answered.length;
      if (story.open === undefined) return;
      tally.open += 1;
      if (await settleOpen(url, story, story.open)) tally.applied += 1;
    }),
  );
  const everything = await listSince(url, from);
  const byMark = Map.groupBy(everything, ({ fields }) => fields.f0 as string);
  const newest = new Set(everything.slice(0, LOOKED_INTO));
  await Promise.all(
    stories.map(async (story) => {
      const twins = byMark.get(`${story.mark}-0`) ?? [];
      checkState(story, twins);
      if (story.submissionId !== undefined && newest.has(twins[0])) await checkHistory(url, story);
    }),
  );
  const known = new Set(stories.map(({ submissionId }) => submissionId));
  const strangers = everything.filter(({ submissionId }) => !known.has(submissionId));
  const unanswered = stories.filter((story) => story.submissionId === undefined && story.openIs !== "not done");
  const marks = unanswered.map(({ mark }) => `${mark}-0`);
  for (const { fields } of strangers) expect(marks, "nobody asked for this submission").toContain(fields.f0);
}

/** Repeats the request without a response, as its client would. Returns whether it had been executed before the kill. */
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
  if (story.openIs === "not done") expect(done, `${open.mark} was answered as not done`).toBe(false);
  if (done) {
    Object.assign(story.fields, open.fields);
    Object.assign(story, { version, token: resumeToken });
    // Without a key, the retry of an executed write gets a conflict.
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

function checkState(story: Story, twins: readonly Loose[]): void {
  expect(twins.length, `${story.mark} exists`).toBeLessThanOrEqual(1);
  if (story.submissionId === undefined) return;
  expect(twins).toMatchObject([{ submissionId: story.submissionId, version: story.version, fields: story.fields }]);
  if (story.state === "finalized") expect(twins[0].state).toBe("finalized");
}

/** One event per version, whatever was retried; and the last keyed write gets the same response again. */
async function checkHistory(url: string, story: Story): Promise<void> {
  const { events } = await ask(url, `/submissions/${story.submissionId}/events?limit=1000`);
  const writes = events.filter(({ type }: Loose) => type === "field.updated" || type === "submission.submitted");
  const versions = writes.map(({ version }: Loose) => version);
  expect(versions).toEqual(Array.from({ length: story.version }, (_, index) => index + 1));
  const last = story.answered.findLast(({ sent }) => sent.key !== undefined && sent.what !== "create");
  if (last === undefined) return;
  const again = await send(url, last.sent);
  expect(again.body, "a retry gets the recorded response").toEqual({ ...last.body, _idempotent: true });
}
