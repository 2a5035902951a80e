import type { Dice } from "../simulation/random.ts";
import { type Answer, learn, nextRequest, type Sent, type Story, send, stepsOf } from "./kill-client.ts";

export interface Load {
  /** Responses and refusals of all clients together, with the times of the responses. */
  answers: number[];
  refusals: number;
  lost: number;
  over: boolean;
}

export const newLoad = (): Load => ({ answers: [], refusals: 0, lost: 0, over: false });

export interface Client {
  name: string;
  dice: Dice;
  load: Load;
  /** Connections may break: something between caller and server can be killed. */
  mayLose?: true;
  /** A response that takes longer counts as lost. */
  timeoutMs?: number;
}

const PAUSE_MS = 20;
const PATIENCE_MS = 60_000;
/** The proxy had sent the request, and got no response. */
const PROXY_LOST_IT = [502, 504];

/**
 * Writes one submission after another until the load is over, through every fault: a request with a key is repeated until it gets a
 * response; one without a key is abandoned together with its submission. Every response other than a success must be a 503.
 */
export async function writeThrough(url: string, client: Client): Promise<Story[]> {
  const { name, dice, load } = client;
  const stories: Story[] = [];
  for (let count = 0; !load.over; count++) {
    const story: Story = { mark: `${name}-${count}`, version: 0, fields: {}, answered: [] };
    stories.push(story);
    for (const [index, what] of stepsOf(dice).entries()) {
      const sent = nextRequest({ what, index, story, dice });
      story.open = sent;
      const answer = await insist(url, sent, client, story);
      if (answer === undefined) break;
      delete story.open;
      delete story.openIs;
      learn(story, sent, answer.body);
      load.answers.push(performance.now());
      if (load.over) break;
    }
  }
  return stories;
}

async function insist(url: string, sent: Sent, client: Client, story: Story): Promise<Answer | undefined> {
  for (const giveUp = performance.now() + PATIENCE_MS; ; ) {
    const answer = await attempt(url, sent, client);
    if (answer !== undefined && answer.status < 300) return answer;
    if (answer !== undefined) checkRefusal(sent, answer);
    const isCertain = answer?.body.error?.message?.includes("nothing was changed") === true;
    // Once the outcome is unknown, a later refusal of the same request doesn't settle it.
    story.openIs = isCertain && story.openIs !== "in doubt" ? "not done" : "in doubt";
    if (sent.key === undefined) return undefined;
    if (performance.now() > giveUp) throw new Error(`${sent.what} ${sent.mark}: no success in ${PATIENCE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function attempt(url: string, sent: Sent, { load, mayLose, timeoutMs }: Client): Promise<Answer | undefined> {
  try {
    const answer = await send(url, sent, timeoutMs);
    if (answer.status >= 300) load.refusals += 1;
    if (mayLose === undefined || !PROXY_LOST_IT.includes(answer.status)) return answer;
  } catch (error) {
    if (mayLose === undefined) throw error;
  }
  load.lost += 1;
  return undefined;
}

function checkRefusal(sent: Sent, { status, body, retryAfter }: Answer): void {
  const isKind = status === 503 && ["service_unavailable", "locked"].includes(body.error.type);
  if (!isKind || !body.error.retryable || !(Number(retryAfter) >= 1))
    throw new Error(`${sent.what} ${sent.mark}: ${status} ${retryAfter} ${JSON.stringify(body)}`);
}
