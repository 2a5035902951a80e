import type { Dice } from "../simulation/random.ts";
import type { Loose } from "../support/harness.ts";

/** One request of a client, which can be repeated. */
export interface Sent {
  what: "create" | "setFields" | "submit";
  /** The value that only this request writes. */
  mark: string;
  token?: string;
  key?: string;
  fields?: Record<string, string>;
}

/** What a client knows of one submission: what was acknowledged, and the one request that was not. */
export interface Story {
  mark: string;
  submissionId?: string;
  token?: string;
  version: number;
  state?: string;
  fields: Record<string, string>;
  answered: { sent: Sent; body: Loose }[];
  /** Lost on the way: executed or not. */
  open?: Sent;
  /** What its response said, if there was one. */
  openIs?: "not done" | "in doubt";
}

export interface Answer {
  status: number;
  body: Loose;
  retryAfter: string | null;
}

const ACTOR = { kind: "agent", id: "killer" } as const;
export const INTAKE = "kill";

export async function send(url: string, sent: Sent, timeoutMs?: number): Promise<Answer> {
  const { what, token, key, fields } = sent;
  const path =
    what === "create" ? `/intakes/${INTAKE}/submissions` : `/resume/${token}${what === "submit" ? "/submit" : ""}`;
  const content = what === "create" ? { initialFields: fields } : what === "setFields" ? { fields } : {};
  const response = await fetch(url + path, {
    method: what === "setFields" ? "PATCH" : "POST",
    headers: { "content-type": "application/json", ...(key !== undefined && { "idempotency-key": key }) },
    body: JSON.stringify({ actor: ACTOR, ...content }),
    ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
  });
  const retryAfter = response.headers.get("retry-after");
  return { status: response.status, body: await response.json(), retryAfter };
}

interface Client {
  name: string;
  dice: Dice;
  /** Counts for all clients together. */
  progress: { answers: number };
}

/** Writes one submission after another until the server is gone. Stops at the first request without a response. */
export async function writeUntilKilled(url: string, client: Client): Promise<Story[]> {
  const { name, dice, progress } = client;
  const stories: Story[] = [];
  for (let count = 0; ; count++) {
    const mark = `${name}-${count}`;
    const story: Story = { mark, version: 0, fields: {}, answered: [] };
    stories.push(story);
    for (const [index, what] of stepsOf(dice).entries()) {
      const alive = await step(url, story, nextRequest({ what, index, story, dice }));
      if (!alive) return stories;
      progress.answers += 1;
    }
  }
}

export const stepsOf = (dice: Dice): Sent["what"][] => [
  "create",
  ...Array.from({ length: dice.below(4) }, () => "setFields" as const),
  "submit",
];

export function nextRequest({
  what,
  index,
  story,
  dice,
}: {
  what: Sent["what"];
  index: number;
  story: Story;
  dice: Dice;
}): Sent {
  const mark = `${story.mark}-${index}`;
  const keyed = what === "submit" || dice.chance(0.6);
  return {
    what,
    mark,
    ...(story.token !== undefined && { token: story.token }),
    ...(keyed && { key: `${mark}-${"k".repeat(32)}` }),
    ...(what !== "submit" && { fields: { [`f${index}`]: mark } }),
  };
}

async function step(url: string, story: Story, sent: Sent): Promise<boolean> {
  story.open = sent;
  let answer: Answer;
  try {
    answer = await send(url, sent);
  } catch {
    return false;
  }
  if (answer.status >= 300)
    throw new Error(`${sent.what} ${sent.mark}: ${answer.status} ${JSON.stringify(answer.body)}`);
  delete story.open;
  learn(story, sent, answer.body);
  return true;
}

export function learn(story: Story, sent: Sent, body: Loose): void {
  story.answered.push({ sent, body });
  story.submissionId = body.submissionId;
  story.token = body.resumeToken;
  story.version = body.version;
  story.state = body.state;
  Object.assign(story.fields, sent.fields);
}
