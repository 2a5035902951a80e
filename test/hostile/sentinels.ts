import { EVENT_STREAMS, EVENT_TYPES } from "@formbridge/contract";
import { type ChainedEvent, firstBrokenLink } from "@formbridge/core";
import type { Connection, WireAnswer } from "./wire.ts";
import type { World } from "./world.ts";

/** Reads and refusals write these; they are no change. */
const AUDITS = ["token.accessed", "token.conflict", "idempotency.conflict", "security.incident"];
const TOLD = Object.keys(EVENT_TYPES).filter((type) => !AUDITS.includes(type));

/** Everything visible of the sentinels, as text. The time left to them changes on its own. */
export async function photograph(world: World, connection: Connection): Promise<Map<string, string>> {
  const look = (path: string, key: string): Promise<WireAnswer> =>
    connection.send({
      method: "GET",
      path,
      headers: [
        ["Host", "127.0.0.1"],
        ["Authorization", `Bearer ${key}`],
      ],
    });
  const photo = new Map<string, string>();
  for (const { submissionId, adminKey, state } of world.sentinels) {
    const record = await look(`/submissions/${submissionId}`, adminKey);
    const events = await look(`/submissions/${submissionId}/events?limit=1000&types=${TOLD.join(",")}`, adminKey);
    const handoffs = await look(`/submissions/${submissionId}/handoffs`, adminKey);
    const still = record.body
      .replace(/"remainingMs":\d+/, "")
      .replace(/"timeRemaining":\d+/, "")
      // Activity of the last minute disappears on its own.
      .replace(/"recentActivity":\{(?:"by\w+":\{"actor":\{[^}]*\},"at":"[^"]*"\},?)*\},?/, "");
    photo.set(
      `${state} ${submissionId}`,
      `${record.status} ${still}\n${events.status} ${events.body}\n${handoffs.status} ${handoffs.body}`,
    );
  }
  for (const { id, adminKey } of world.sentinelIntakes) {
    const { status, body } = await look(`/intakes/${id}`, adminKey);
    photo.set(`intake ${id}`, `${status} ${body}`);
  }
  return photo;
}

/** What has changed. */
export function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...before].flatMap(([name, was]) => {
    const is = after.get(name) ?? "nothing";
    if (is === was) return [];
    const parts = new Set(was.split(","));
    const changed = is.split(",").filter((part) => !parts.has(part));
    return [`${name} changed: ${changed.slice(0, 8).join(",").slice(0, 500)}`];
  });
}

const BATCH = 1000;

/** Recomputes the chains of a tenant's submissions, the newest first, and names the invalid ones. */
export async function brokenChains(
  world: World,
  { tenant, most }: { tenant: string; most: number },
): Promise<string[]> {
  const { backend } = world.test.server.core;
  const ids = world.sentinels.filter((sentinel) => sentinel.tenant === tenant).map((sentinel) => sentinel.submissionId);
  const rows = await backend.submissions.list({ tenant }, { limit: most });
  for (const { submission } of rows) ids.push(submission.submissionId);
  const broken: string[] = [];
  for (const submissionId of new Set(ids)) {
    const link = firstBrokenLink(await historyOf(world, { tenant, submissionId }));
    if (link !== undefined) broken.push(`${submissionId}: ${JSON.stringify(link)}`);
  }
  return broken;
}

async function historyOf(world: World, where: { tenant: string; submissionId: string }): Promise<ChainedEvent[]> {
  const { backend } = world.test.server.core;
  const history: ChainedEvent[] = [];
  for (;;) {
    const last = history.at(-1)?.eventId;
    const query = { ...where, streams: EVENT_STREAMS, ...(last !== undefined && { afterEventId: last }) };
    const events = (await backend.events.read(query, BATCH)) ?? [];
    history.push(...events);
    if (events.length < BATCH) return history;
  }
}
