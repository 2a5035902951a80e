import type { GetEventsResponse, IntakeEvent, ListSubmissionsResponse } from "@formbridge/contract";
import { type ChainedEvent, firstBrokenLink } from "@formbridge/core";
import { inWords } from "../probe/calls.ts";
import { type Outcome, persist, type Scene } from "./fault.ts";
import type { Entry } from "./ledger.ts";

/** Longer than a run takes, plus any difference between clocks. */
const A_WHILE_MS = 3_600_000;

async function get<Body>({ call }: Scene, path: string): Promise<Body> {
  const answer = await persist(() => call("GET", path));
  if (answer.status !== 200) throw new Error(inWords(answer));
  return answer.body as Body;
}

async function each(scene: Scene, check: (entry: Entry) => Promise<string | undefined>): Promise<Outcome> {
  const problems: string[] = [];
  for (const entry of scene.ledger.entries) {
    const problem = await check(entry).catch((error: Error) => error.message);
    if (problem !== undefined) problems.push(`${entry.submissionId}: ${problem}`);
  }
  return { tried: scene.ledger.entries.length, problems };
}

/** Each submission has the version and value of the last acknowledged write. */
export const findLost = (scene: Scene): Promise<Outcome> =>
  each(scene, async ({ submissionId, version, text }) => {
    const found = await get<{ version: number; fields: Record<string, unknown> }>(
      scene,
      `/submissions/${submissionId}`,
    );
    if (found.version !== version) return `version ${found.version}, but ${version} was acknowledged`;
    return found.fields[scene.field] === text ? undefined : "a value other than the acknowledged one";
  });

/** Every submission of this run was acknowledged. */
export async function findDoubled(scene: Scene): Promise<Outcome> {
  const known = new Set(scene.ledger.entries.map(({ submissionId }) => submissionId));
  const from = new Date(Date.now() - A_WHILE_MS).toISOString();
  const first = new URLSearchParams({ intakeId: scene.intake, from, fields: "true", limit: "100" });
  const problems: string[] = [];
  let tried = 0;
  for (let query: URLSearchParams | undefined = first; query !== undefined; ) {
    const page: ListSubmissionsResponse = await get(scene, `/submissions?${query}`);
    for (const { submissionId, fields = {} } of page.items) {
      if (!String(fields[scene.field]).startsWith(scene.run)) continue;
      tried += 1;
      if (!known.has(submissionId)) problems.push(`${submissionId} was created without being acknowledged`);
    }
    const { nextPageToken: pageToken } = page;
    query = pageToken === undefined ? undefined : new URLSearchParams({ pageToken });
  }
  return { tried, problems };
}

/** Every history verifies. */
export const findBroken = (scene: Scene): Promise<Outcome> =>
  each(scene, async ({ submissionId }) => {
    const broken = firstBrokenLink((await historyOf(scene, submissionId)).map(chained));
    return broken && `${broken.stream} event ${broken.seq}: ${broken.problem}`;
  });

async function historyOf(scene: Scene, submissionId: string): Promise<IntakeEvent[]> {
  const events: IntakeEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.eventId;
    const query = new URLSearchParams({ stream: "all", proof: "true", limit: "1000" });
    if (after !== undefined) query.set("afterEventId", after);
    const page = await get<GetEventsResponse>(scene, `/submissions/${submissionId}/events?${query}`);
    events.push(...page.events);
    if (!page.hasMore) return events;
  }
}

function chained({ proof, payload, ...event }: IntakeEvent): ChainedEvent {
  if (proof === undefined) throw new Error(`${event.stream} event ${event.seq} has no proof`);
  return { ...event, ...proof, payload: (payload ?? null) as ChainedEvent["payload"] };
}

/** Ends what the faults left open. */
export const cancelAll = (scene: Scene): Promise<Outcome> =>
  each(scene, async ({ submissionId, token }) => {
    const { state } = await get<{ state: string }>(scene, `/submissions/${submissionId}`);
    if (state === "finalized" || state === "cancelled") return undefined;
    const gone = await persist(() => scene.call("DELETE", `/resume/${token}`, { body: {} }));
    return gone.status === 200 ? undefined : inWords(gone);
  });
