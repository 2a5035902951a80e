import { createClient, type Decision, type FormBridgeClient, FormBridgeError } from "@formbridge/client";
import type {
  GetEventsResponse,
  GetSubmissionIntakeResponse,
  IntakeEvent,
  ReviewResponse,
  ShowReviewResponse,
  SubmissionRecord,
} from "@formbridge/contract";
import type { ShownIntake } from "../shared/intake-texts.ts";

/** A submission as its reviewer sees it. */
export interface Reviewable {
  record: SubmissionRecord;
  intake: ShownIntake;
  /** Who decides by a link, and until when it works. */
  link?: { reviewer: string; expiresAt: string };
  barred?: ShowReviewResponse["review"]["barred"];
}

/** Where a review comes from and goes to: a link, or a key. Only `decide` changes anything. */
export interface ReviewSource {
  load(): Promise<Reviewable>;
  history(): Promise<IntakeEvent[]>;
  decide(verdict: Decision, seen: Reviewable): Promise<ReviewResponse>;
}

const get = (path: string, route: string) => ({ method: "GET", path, route, repeatable: true }) as const;
const post = (path: string, route: string) => ({ method: "POST", path, route, repeatable: false }) as const;

const PAGE = 1000;
/** What a page shows of a very long history. */
const MAX_PAGES = 5;

async function readAll(client: FormBridgeClient, path: string, route: string): Promise<IntakeEvent[]> {
  const events: IntakeEvent[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: PAGE, afterEventId: after };
    const answer = await client.request<GetEventsResponse>({ ...get(path, route), query });
    events.push(...answer.events);
    after = answer.nextEventId;
    if (after === undefined) break;
  }
  return events;
}

export function linkSource(secret: string): ReviewSource {
  const client = createClient({ url: location.origin });
  const path = `/reviews/${encodeURIComponent(secret)}`;
  const route = "/reviews/{link}";
  return {
    async load() {
      const answer = await client.request<ShowReviewResponse>(get(path, route));
      const { intake, review, ...record } = answer;
      const { reviewer, expiresAt, barred } = review;
      return { record, intake, link: { reviewer, expiresAt }, ...(barred !== undefined && { barred }) };
    },
    history: () => readAll(client, `${path}/events`, `${route}/events`),
    decide: (body) => client.request<ReviewResponse>({ ...post(path, route), body }),
  };
}

export function keySource(client: FormBridgeClient, submissionId: string): ReviewSource {
  const path = `/submissions/${encodeURIComponent(submissionId)}`;
  const route = "/submissions/{id}";
  return {
    async load() {
      const [record, { intake }] = await Promise.all([
        client.request<SubmissionRecord>(get(path, route)),
        client.request<GetSubmissionIntakeResponse>(get(`${path}/intake`, `${route}/intake`)),
      ]);
      if (record.state !== "needs_review") {
        throw new FormBridgeError("conflict", "The submission isn't waiting for a review.", { status: 409 });
      }
      return { record, intake };
    },
    history: () => readAll(client, `${path}/events`, `${route}/events`),
    // Names the version that the reviewer has seen: the decision counts for no other.
    decide: (body, { record }) =>
      client.request<ReviewResponse>({
        ...post(`${path}/review`, `${route}/review`),
        headers: { "if-match": `"${record.version}"` },
        body,
      }),
  };
}
